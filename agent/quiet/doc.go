// Package quiet tells whether a node was left alone while it was measured: what
// others did then would make it look slow.
//
// It must not know what is measured.
package quiet
