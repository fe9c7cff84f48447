// Package config reads config.yaml, the text in which people write ratios, into
// a layer. Whatever is wrong with it is said in one error, each fault with the
// path to it.
//
// A document is read in two steps: first what each key says by itself, with the
// line where it is wrong; then whether rules and globals agree.
//
// It must not know where the text comes from.
package config
