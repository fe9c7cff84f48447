// Package compare adds up what each container uses in the current hour, and folds each hour that has ended into evidence of how fast
// node types are: see package ratios/production/evidence.
//
// A replica is a pod, with all of its containers. It counts if it ran through the hour, warm, ready and with the same size. That follows
// from what the pod says at the end of the hour, and from what it said at each sample: only a flag stays of a restart or a resize. Pods
// that share no load with others, as those of DaemonSets and Jobs, only keep their nodes busy. A few bytes are kept for each container in
// the cluster, for two hours, since samples of the last minutes of an hour arrive in the next one.
//
// Only the replica that collects usage adds up hours. Others read the evidence that it stored. A restart loses the current hour, and the one
// before if that was not stored yet.
//
// It must not know where samples come from, where evidence is stored, or what follows from it.
package compare
