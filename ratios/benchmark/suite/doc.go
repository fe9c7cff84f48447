// Package suite is the table of the benchmarks that publishers and the node agent run: which of
// their tests form the score of a suite, and how much the suite counts.
//
// It must not know the formats that scores are published in, or any measured ratio: weights
// chosen by their result would only confirm what was expected.
package suite
