// Package resizes implements the ResizeService: how pods were sized, as lists and as watches.
// Two of its methods, GetStatus and Restore, have other subjects, and other packages
// implement them.
//
// It must not know how pods are resized.
package resizes
