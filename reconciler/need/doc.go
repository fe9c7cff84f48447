// Package need says what the containers of a pod need on the node type that ratios are relative to, the
// baseline. The planner scales needs; originals are what a restore returns a pod to.
//
// The package is pure: it must not depend on clients, clocks or pods.
package need
