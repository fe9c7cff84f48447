// Package manifest reads Kubernetes manifests. For each object that creates pods, it
// returns the pod that the API server would create.
//
// It must not know ratios, nodes or a cluster, nor decide the size of a pod.
package manifest
