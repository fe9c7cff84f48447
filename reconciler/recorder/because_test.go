package recorder

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestBecause(t *testing.T) {
	// Each container has a cause for cpu and one for memory.
	of := func(nodeType string, causes ...[2]plan.Cause) *plan.Plan {
		p := &plan.Plan{}
		p.NodeType = nodeType
		if nodeType != "" {
			p.CPUFactor, p.MemoryFactor = sizing.Factor{Num: 100, Den: 125}, sizing.Factor{Num: 1, Den: 1}
		}
		for _, both := range causes {
			p.Containers = append(p.Containers, plan.ContainerPlan{Causes: both})
		}
		return p
	}
	cpu := func(cause plan.Cause) [2]plan.Cause { return [2]plan.Cause{cause, plan.Unchanged} }
	memory := func(cause plan.Cause) [2]plan.Cause { return [2]plan.Cause{plan.NotOurs, cause} }
	const n4 = "for node type n4 (cpu × 0.8, memory × 1), "
	for _, tc := range []struct {
		plan *plan.Plan
		want string
	}{
		{of("n4", cpu(plan.ByRatio)), n4 + "from what the author wrote"},
		{of("n4", cpu(plan.ByDemand), cpu(plan.Unchanged), cpu(plan.ByRatio)), n4 + "from usage, from what the author wrote"},
		{of("n4", cpu(plan.ByDemand), memory(plan.ByRatio)), n4 + "cpu from usage, memory from what the author wrote"},
		{of("n4", [2]plan.Cause{plan.ByRatio, plan.ByDemand}, cpu(plan.ByDemand)), n4 + "cpu from usage and from what the author wrote, memory from usage"},
		{of("n4", [2]plan.Cause{plan.ByRatio, plan.ByDemand}, [2]plan.Cause{plan.ByDemand, plan.ByRatio}), n4 + "from usage, from what the author wrote"},
		{of("n4", cpu(plan.Unchanged), cpu(plan.ByBoost)), n4 + "when a CPU boost began or ended"},
		{of("n4", [2]plan.Cause{plan.ByBoost, plan.ByDemand}), n4 + "memory from usage, when a CPU boost began or ended"},
		{of("n4", [2]plan.Cause{plan.ByBoost, plan.ByDemand}, cpu(plan.ByDemand)), n4 + "from usage, when a CPU boost began or ended"},
		{of("", memory(plan.ByDemand)), "from usage"},
		{of("", cpu(plan.ByRestore), memory(plan.ByRestore)), "to what the author wrote"},
		{of("", cpu(plan.ByRevert)), ""},
	} {
		if got := because(tc.plan); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestCauses checks that the entries of resizes and restores have causes.
func TestCauses(t *testing.T) {
	for _, tc := range []struct {
		kind         plan.Kind
		cause        plan.Cause
		reason, want string
	}{
		{plan.Sizes, plan.ByDemand, "Resized", "from usage"},
		{plan.Restore, plan.ByRestore, "Restored", "to what the author wrote"},
		{plan.Revert, plan.ByCompletion, "Resized", ""},
	} {
		r := New(Config{Clock: clocktesting.NewFakeClock(noon), Prefix: "journal"})
		r.Wrote(&plan.Plan{
			Subject: plan.Subject{Pod: types.NamespacedName{Namespace: "shop", Name: "web-x"}}, Decision: plan.Resize, Kind: tc.kind,
			Containers: []plan.ContainerPlan{{Causes: [2]plan.Cause{tc.cause, tc.cause}}},
		}, []plan.Reason{{Code: contract.Reason(tc.reason)}})
		taken := r.pending.Take(journal.Resizes, noon)
		if len(taken) != 1 || taken[0].Reason != tc.reason || taken[0].Message != tc.want {
			t.Errorf("kind %v: %+v, want %q", tc.kind, taken, tc.want)
		}
	}
}
