// Package settings reads what people say about benchmarks: which feeds there are,
// what is sound, and which node types follow them. One list of keys says how each
// is read, what it can be, and what the reference shows of it.
//
// It must not know where the text comes from.
package settings
