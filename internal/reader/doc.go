// Package reader reads hand-written YAML and collects all faults, each with its path and line.
// It keeps the order of the text, follows aliases and merges (<<), and rejects unknown keys and
// keys that are set twice.
//
// It must not know what a document means.
package reader
