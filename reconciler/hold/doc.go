// Package hold stores holds, by which users stop the resizing of pods. A hold has a kind
// (Restore or Pause) and a scope (the cluster, a namespace, a workload or a pod). All holds
// are in one ConfigMap, so that they survive restarts and every replica sees the same
// holds, and nothing is written on the pods.
//
// It must not know how pods are planned or written, nor who requests a hold and how.
package hold
