// Package cluster keeps the inputs of plans: the pods in a cluster, each read once, their nodes
// and the requests on them, the owners of pods, limits, quotas, disruption budgets, autoscalers,
// and the answers of nodes. It makes the snapshot from which a pod is planned, and reports
// changes that may lead to different plans.
//
// It must not know how plans are used, nor what users read, nor write to the cluster.
package cluster
