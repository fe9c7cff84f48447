// Package main runs the recommender of the Vertical Pod Autoscaler (VPA) and ours next to each other
// on a cluster whose containers work, and compares their targets: "make soak-vpa".
//
// Both read metrics.k8s.io and the pods, and neither knows the other.
package main
