// Package nodelabel labels a node with its CPU model. The label distinguishes node types in
// clusters where nothing else sets such a label.
//
// It must not know how the CPU model was found.
package nodelabel
