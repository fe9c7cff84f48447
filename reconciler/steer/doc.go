// Package steer keeps new pods off overloaded nodes: while the configuration says so, the leader gives
// these nodes a taint, and removes it later. Whoever leads removes the taints of earlier leaders that are not
// wanted.
//
// It must not know when a node is overloaded, or how it is measured.
package steer
