package plan

import (
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Imagine plans a pod that does not exist yet (pod.Imagined) as if it ran alone on a node of
// the type. The plan names no node.
func (p *Planner) Imagine(of *pod.Pod, nodeType string, table *ratios.Table) *Plan {
	s := &Snapshot{Pod: of, Table: table}
	s.Imagine(nodeType)
	plan := p.Plan(s)
	plan.Node = ""
	return plan
}
