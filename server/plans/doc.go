// Package plans implements the PlanService: what would happen to pods in the cluster and in
// manifests, with the current configuration or with assumptions.
//
// It must not know how plans are made, nor write anything.
package plans
