package explain

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

var causes = [...]workloadresizerv1.SizeCause{
	plan.Unchanged:    workloadresizerv1.SizeCause_SIZE_CAUSE_KEPT,
	plan.NotOurs:      workloadresizerv1.SizeCause_SIZE_CAUSE_KEPT,
	plan.ByRatio:      workloadresizerv1.SizeCause_SIZE_CAUSE_RATIO,
	plan.ByDemand:     workloadresizerv1.SizeCause_SIZE_CAUSE_DEMAND,
	plan.ByBoost:      workloadresizerv1.SizeCause_SIZE_CAUSE_BOOST,
	plan.ByAdoption:   workloadresizerv1.SizeCause_SIZE_CAUSE_ADOPTION,
	plan.ByRevert:     workloadresizerv1.SizeCause_SIZE_CAUSE_REVERT,
	plan.ByCompletion: workloadresizerv1.SizeCause_SIZE_CAUSE_REVERT,
	plan.ByNudge:      workloadresizerv1.SizeCause_SIZE_CAUSE_REVERT,
	plan.ByNode:       workloadresizerv1.SizeCause_SIZE_CAUSE_NODE,
	plan.ByRestore:    workloadresizerv1.SizeCause_SIZE_CAUSE_RESTORE,
}

// steps returns how a plan came to its sizes.
func steps(p *plan.Plan) []*workloadresizerv1.SizeStep {
	all := make([]*workloadresizerv1.SizeStep, len(p.Derivation))
	for i := range p.Derivation {
		d := &p.Derivation[i]
		all[i] = &workloadresizerv1.SizeStep{
			Container: p.Containers[d.Container].Name, Resource: d.Measure.Name, Stage: d.Stage,
			Request: d.Measure.Text(d.To.Request), Cause: causes[d.Cause], Clamped: d.Clamped, Message: d.Why,
		}
		if d.To.Limit != 0 {
			all[i].Limit = d.Measure.Text(d.To.Limit)
		}
	}
	return all
}
