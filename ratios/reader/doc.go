// Package reader reads YAML as people write it, and collects everything that is wrong
// with it, each fault with the path to it and its line. It keeps the order of the text,
// follows aliases and merges (<<), and refuses unknown keys and keys that are set twice.
//
// It must not know what a document says.
package reader
