// Package kernel has the benchmarks that a node is measured with: a few that
// compute as servers do, made of the standard library, and two that wait for
// memory. Each is a fixed amount of work over data that is always the same, and
// checks what comes out.
//
// It must not know how work is timed, nor how many threads do it.
package kernel
