// Package cluster implements the ClusterService: the workloads and nodes in the cluster, and what the server makes of them.
//
// It must not plan pods, and derives nothing but sums.
package cluster
