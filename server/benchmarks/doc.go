// Package benchmarks implements the BenchmarkService: it takes samples, and returns
// measurements and the ratios that they suggest.
//
// It must not know how samples are stored, nor how they are estimated.
package benchmarks
