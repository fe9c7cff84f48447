// Package kernel provides the benchmarks that measure a node. Most use the standard library
// to compute what servers compute; two wait for memory. Each kernel does a fixed amount of
// work on constant data, and checks its result.
//
// It must not know how work is timed or how many threads do it.
package kernel
