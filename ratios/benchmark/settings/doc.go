// Package settings reads the benchmark settings: the feeds, the criteria for trustworthy
// ratios, and the node types that follow benchmarks. One list of keys defines how each key is
// read, its valid values, and its description in the reference.
//
// It must not know where the text comes from.
package settings
