// Package ratios says how fast each node type is.
//
// Providers each know a layer: some node types, perhaps a baseline and bounds.
// The Store merges the layers, the first that names something decides, into an
// immutable Table that everybody reads without locks.
//
// It must not know what ratios are used for: no pods, no plans, no writes. It
// imports nothing of the project.
package ratios
