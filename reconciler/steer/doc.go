// Package steer keeps new pods off overloaded nodes: while the configuration says so, the leader gives
// these nodes a taint, and removes it later. Each leader also removes what earlier leaders have left.
//
// It must not know when a node is overloaded, or how it is measured.
package steer
