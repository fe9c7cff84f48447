// Package state is what a cluster's directory says about it: which nodes and
// ports it has, who owns it, and where each file lies. Everything a component
// needs in order to start is read from here, so that a component that is
// started again later gets exactly what it got the first time.
//
// The package must not know how to run anything.
package state
