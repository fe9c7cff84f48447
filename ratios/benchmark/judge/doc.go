// Package judge changes measured ratios. It compares the measurements with the ratios of the
// other sources and, for node types that follow benchmarks, lets the provider publish the
// result in gradual steps. For other node types, it only makes the result available.
//
// It must not know where samples come from or how published ratios are stored.
package judge
