// Package owners finds the owners above the controllers of pods: the Rollout of a
// ReplicaSet, the Prometheus of a StatefulSet, their owners, and so on.
//
// It follows the metadata of objects of the given kinds, and keeps little more than the
// controller of each object. It discovers the version of a kind, looks again for a kind that
// is not installed, and reports a kind that it may not read while it follows the others.
//
// It must not know how workloads are used: no holds, no autoscalers, no plans. Of a pod it
// reads only the owner, and the name and labels from which an owner can be derived.
package owners
