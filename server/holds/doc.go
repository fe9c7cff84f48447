// Package holds implements the HoldService: it creates, lists and ends holds and the freeze.
//
// It must not know how holds affect pods.
package holds
