package recorder

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestBecause(t *testing.T) {
	of := func(nodeType string, causes ...plan.Cause) *plan.Plan {
		p := &plan.Plan{}
		p.NodeType = nodeType
		if nodeType != "" {
			p.CPUFactor, p.MemoryFactor = sizing.Factor{Num: 100, Den: 125}, sizing.Factor{Num: 1, Den: 1}
		}
		for _, cause := range causes {
			p.Containers = append(p.Containers, plan.ContainerPlan{Causes: [2]plan.Cause{cause, plan.Unchanged}})
		}
		return p
	}
	for _, tc := range []struct {
		plan *plan.Plan
		want string
	}{
		{of("n4", plan.ByRatio), "for node type n4 (cpu × 0.8, memory × 1), from what the author wrote"},
		{of("n4", plan.ByDemand, plan.Unchanged, plan.ByRatio), "for node type n4 (cpu × 0.8, memory × 1), from usage, from what the author wrote"},
		{of("n4", plan.Unchanged, plan.ByBoost), "for node type n4 (cpu × 0.8, memory × 1), when a CPU boost began or ended"},
		{of("", plan.ByDemand), "from usage"},
		{of("", plan.ByRestore), ""},
	} {
		if got := because(tc.plan); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
