// Package hold keeps what people have said about pods that are not to be
// resized: a hold is a kind (Restore or Pause) and a scope (the cluster, a
// namespace, a workload or a pod). Holds are in one ConfigMap, so that they survive restarts
// and every replica sees the same, and nothing is written on the pods.
//
// It must not know how pods are planned or written, nor who asks for a hold and
// how.
package hold
