// Package config reads config.yaml, the text in which people write ratios, into
// a layer. Whatever is wrong with it is said in one error, each fault with the
// path to it.
//
// It must not know where the text comes from.
package config
