// Package cgroup reads what containers use from cgroup v2: it finds the control groups of the pods
// on a node, and reads their counters.
//
// It only reads, and needs no privileges for it. A value that the kernel does not offer is unknown,
// never zero. It must not know what the counters mean for a workload, or where they go.
package cgroup
