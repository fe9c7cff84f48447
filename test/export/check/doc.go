// Package check compares files before and after "resizectl export". It accepts only changed amounts of cpu and memory,
// and inserted ones.
//
// It must not import what it checks, and works differently: with lines and decoded values, without positions.
package check
