// Package judge moves measured ratios: it compares what was measured with what the
// other sources of ratios say, and has the provider publish what that comes to,
// calmly, for node types that are to follow; for the others it only tells.
//
// It must not know where samples come from, nor how what is published is kept.
package judge
