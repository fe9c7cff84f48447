// Package owners knows what is above the controllers of pods: the Rollout of a
// ReplicaSet, the Prometheus of a StatefulSet, whatever controls that, and so on.
//
// It follows objects of the kinds that it is given by their metadata alone, and keeps
// of each hardly more than whom it belongs to. The version of a kind is found by
// discovery; a kind that is not installed is looked for again, and one that may not
// be read is reported while the others are followed.
//
// It must not know what is done with a workload: neither holds, nor autoscalers, nor
// plans. Of a pod it looks at nothing but whom that belongs to.
package owners
