package plans

import (
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// plansTable collects the plans: a column is as wide as its widest cell.
type plansTable struct {
	w      io.Writer
	output *print.Output
	kind   objects.Kind[*workloadresizerv1.Plan, row]
	plans  []*workloadresizerv1.Plan
}

func (p *plansTable) Plan(plan *workloadresizerv1.Plan) error {
	p.plans = append(p.plans, plan)
	return nil
}

func (p *plansTable) Summary(s *workloadresizerv1.PlanSummary) error {
	if err := p.output.TableTo(p.w, p.kind.Table(p.plans...)); err != nil {
		return err
	}
	return PrintTotals(p.w, p.output.Painter(), s)
}

// printPlan prints the plan of one pod, and below it the full reasons: users request a
// single pod to find out why.
func printPlan(o *print.Output, plan *workloadresizerv1.Plan, verdict func(*workloadresizerv1.Plan) string) error {
	if err := o.Table(planKind(false).Table(plan)); err != nil {
		return err
	}
	for _, reason := range plan.GetReasons() {
		if _, err := fmt.Fprintf(o.Out, "%s/%s %s: %s\n", plan.GetNamespace(), plan.GetPod(), verdict(plan), print.Reason(reason)); err != nil {
			return err
		}
	}
	for _, line := range ignored(plan) {
		if _, err := fmt.Fprintf(o.Out, "%s/%s %s: %s\n", plan.GetNamespace(), plan.GetPod(), verdict(plan), line); err != nil {
			return err
		}
	}
	return nil
}
