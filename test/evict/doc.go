// Package evict lets the real server evict pods from nodes without room for them, on a cluster with a real API server,
// scheduler, disruption controller and kubelets, with the rights of the component evict-pods.
//
// It must not know how the server decides.
package evict
