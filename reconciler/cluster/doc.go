// Package cluster knows what plans are made from: the pods of a cluster, each read once,
// their nodes and what is on these, what makes the pods, limits, quotas, autoscalers, and
// what nodes have answered. Of a pod it makes the snapshot that a plan is made from, and it
// tells who works on pods what has changed.
//
// It must not know what is done with plans, nor write to the cluster.
package cluster
