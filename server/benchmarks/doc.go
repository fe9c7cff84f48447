// Package benchmarks is the BenchmarkService: it takes samples, and tells what was
// measured and which ratios it suggests.
//
// It must not know how samples are kept, nor how an estimate is made of them.
package benchmarks
