// Package nodelabel writes the CPU model of a node to a label of it, so that node
// types can be told apart by it where nothing else labels nodes so.
//
// It must not know how the CPU model was found.
package nodelabel
