// Package config reads config.yaml, the file in which users write ratios, into a layer. One
// error lists all faults, each with its path.
//
// A document is read in two steps. The first reads each key by itself, and its faults have
// lines. The second checks whether rules and globals are consistent.
//
// It must not know where the text comes from.
package config
