// Package tree reads a directory of manifests: which objects with pod templates are in its files, which kustomizations
// combine them, and what must not be edited, with the reason.
//
// It must not know recommendations, except for the names of workloads, nor change anything.
package tree
