// Package usage has the sources of usage, and the store that collects from them and publishes what
// every workload needs as one immutable table with a revision.
//
// It must not import ratios or pods: speeds of node types come as numbers, and what a pod belongs
// to comes from a function.
package usage
