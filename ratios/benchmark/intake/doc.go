// Package intake receives samples from callers and feeds, and stores them in the provider of
// measured ratios. It sets their node types to the names that the current ratio table uses. It also
// decides which nodes measure themselves.
//
// It must not know who may send samples or which ratios they result in.
package intake
