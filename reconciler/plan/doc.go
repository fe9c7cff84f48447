// Package plan decides what a pod should have on its node, and what is to be written for
// that. Previews, the loop and whoever else wants to know ask the same Planner; there is
// no second place that computes a size, or decides what is written.
//
// A Planner reads what the pod has and who set it, works out the sizes, and asks package
// safety whether something speaks against them. The Plan lists its writes; package
// actuate does them.
//
// It is pure: it must not know clients, clocks or who asks.
package plan
