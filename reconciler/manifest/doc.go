// Package manifest reads Kubernetes objects as people write them, and makes of
// each that makes pods the pod that the API server would create for it.
//
// It must not know ratios, nodes or a cluster, nor decide what a pod should have.
package manifest
