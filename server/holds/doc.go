// Package holds implements the PauseService, and the method Restore of the ResizeService: it
// creates, lists and ends holds.
//
// It must not know how holds affect pods.
package holds
