// Package taint changes the taints of nodes. It is the only code that writes nodes.
//
// It must not know why taints change.
package taint
