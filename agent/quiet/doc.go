// Package quiet determines how much other processes and virtual machines used a node during its
// measurement, and whether that makes the measurement useless.
//
// It must not know what is measured.
package quiet
