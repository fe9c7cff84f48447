package plan

import "github.com/workload-resizer/workload-resizer/ratios/nodetype"

// DefaultOwnerKinds are the kinds of controllers whose pods are resized.
var DefaultOwnerKinds = []string{"ReplicaSet", "StatefulSet", "DaemonSet", "Job"}

// Planner plans pods. It is pure: the same snapshot gives the same plan.
type Planner struct {
	// OwnerKinds name the kinds of controllers whose pods are resized, as safety.Names reads them.
	OwnerKinds []string
	// NodeTypes determines the type of a node.
	NodeTypes nodetype.Resolver
	// KeepMemoryLimits means that the API server does not allow a memory limit to shrink
	// without a restart (Kubernetes 1.33).
	KeepMemoryLimits bool
	// Sidecars means that restartable init containers are resized too.
	Sidecars bool
	// External selects how to handle sizes that another actor set.
	External External
}
