// Package workloads has the command that lists the workloads in the cluster: what they request, use and need, and what was
// decided on their pods.
//
// It must not add up amounts: the server does, and package usage has the totals.
package workloads
