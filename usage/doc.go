// Package usage has the sources of usage, and the store that collects from them and publishes what
// every workload needs as one immutable table with a revision.
//
// Several sources may measure the same container. They have an order, and no time counts twice: see
// package history. A source is read from where it was last read, and each hour the time in which
// its samples may be overdue is read again. Repeated samples do not count.
//
// It must not import ratios or pods: speeds of node types come as numbers, and what a pod belongs
// to comes from a function.
package usage
