// Package sample defines a measurement of a machine's speed, and validates that it can be
// compared with others.
//
// It must not know where samples come from or how they are used.
package sample
