// Package need says what the containers of a pod need on the node type that ratios are relative to, the
// baseline, and how that is known. The planner scales needs; originals are for restoring alone.
//
// The package is pure: it must not depend on clients, clocks or pods.
package need
