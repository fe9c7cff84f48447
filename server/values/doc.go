// Package values converts results that need no cluster to API messages: sizes, decisions, times, and
// why there are no ratios.
//
// It must not know the cluster or its clients: what package manifests plans with these messages runs in
// resizectl, too, which would otherwise contain every client of Kubernetes.
package values
