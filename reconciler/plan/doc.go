// Package plan decides which size a pod should have on its node, and which writes that
// requires. Previews, the loop and all other callers use the same Planner: no other code
// computes a size or decides what to write.
//
// A Planner reads what the pod has and who set it, computes the sizes, and asks package
// safety for vetoes. The Plan lists its writes; package actuate executes them.
//
// The package is pure: it must not depend on clients, clocks or the caller.
package plan
