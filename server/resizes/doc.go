// Package resizes is the ResizeService: what was done to pods, as lists and as watches.
// Two of its methods are about something else, and answered by others.
//
// It must not know how resizes are done.
package resizes
