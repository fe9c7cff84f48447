package plans

import (
	"slices"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// facts are an explanation. Its steps only display it.
type facts struct {
	*workloadresizerv1.Explanation
	plan *workloadresizerv1.Plan
}

func factsOf(e *workloadresizerv1.Explanation) *facts { return &facts{e, e.GetPlan()} }

// unknown returns why a part is not known, to complete a step; empty if it is.
func (f *facts) unknown(part string) string { return whyUnknown(f.GetUnknown()[part]) }

// because reports whether the plan has one of the reasons.
func (f *facts) because(codes ...string) bool {
	return slices.ContainsFunc(f.plan.GetReasons(), func(r *workloadresizerv1.PlanReason) bool { return slices.Contains(codes, r.GetCode()) })
}
