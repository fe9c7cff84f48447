// Package quiet determines whether other processes or virtual machines disturbed the
// measurement of a node. A disturbed node would look slow.
//
// It must not know what is measured.
package quiet
