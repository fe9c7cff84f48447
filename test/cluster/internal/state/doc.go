// Package state describes a cluster by its directory: its nodes and ports, its owner, and
// the path of each file. Components read everything that they need to start from here, so
// that a component that is started again gets exactly what it got the first time.
//
// The package must not know how to run anything.
package state
