// Package plan decides which size a pod should have on its node, and which writes that
// requires. Previews, the loop and all other callers use the same Planner: no other code
// computes a size or decides what to write.
//
// A plan is made in stages, in the order of the table in stages.go: each judges a draft, and asks packages safety and
// guard for vetoes. The Plan has its actions; package actuate executes them.
//
// The package is pure: it must not depend on clients, clocks or the caller.
package plan
