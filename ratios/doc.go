// Package ratios says how fast each node type is.
//
// Providers each know a layer: some node types, perhaps a baseline, bounds, and
// rules for some pods. The Store merges the layers, the first that names
// something decides, into an immutable Table that everybody reads without locks.
// A Table has a Profile for all pods, the globals, and one per rule.
//
// It must not know what ratios are used for: no plans, no writes, and of a pod
// no more than a Subject, what rules look at.
package ratios
