// Package neighbors knows what the pods of each node share. It asks the planner what each pod needs of its node, and package
// headroom which share that leaves.
//
// It must not know how demand is measured, nor compute sizes: the planner does.
package neighbors
