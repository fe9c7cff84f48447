// Package plans is the PlanService: what would happen to pods of the cluster and of
// manifests, as things are and as they might be.
//
// It must not know how plans come about, nor write anything.
package plans
