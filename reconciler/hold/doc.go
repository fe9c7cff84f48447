// Package hold stores what stops the resizing of pods: holds and the freeze.
//
// A hold has a kind (Restore, Pause or Breaker) and a scope (the cluster, a namespace, a workload
// or a pod). All holds are in one ConfigMap. The freeze stops the whole cluster, outranks all holds,
// and has a ConfigMap of its own. So both survive restarts, every replica sees the same, and
// nothing is written on the pods.
//
// It must not know how pods are planned or written, nor who requests a hold and how.
package hold
