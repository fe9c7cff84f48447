// Package need says what the containers of a pod need on the node type that ratios are relative to, the
// baseline, and where that comes from: from their authors, or from usage. The planner scales needs; originals
// are what a restore returns a pod to.
//
// Recommendations change all the time, and a resize is cheap, but not free. The rules of this package say which
// size a container keeps nevertheless: see State.Settle.
//
// The package is pure: it must not depend on clients, clocks or pods, or on how usage is measured.
package need
