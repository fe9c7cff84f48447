// Package footprint checks how much memory a parser uses for the bytes of a caller.
//
// It must not know what is parsed.
package footprint
