package plans

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/resizes"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func (f *facts) holdsStep() string {
	if why := f.unknown("holds"); why != "" {
		return "Holds: unknown: " + why
	}
	var told []string
	if f.GetFreeze() != nil {
		told = append(told, print.Freeze(f.GetFreeze()))
	}
	told = append(told, print.Each(f.GetHolds(), holdText)...)
	if len(told) == 0 {
		return "Holds: the pod is neither restored nor paused."
	}
	return "Holds: " + strings.Join(told, "; ") + "."
}

// holdText returns e.g. "pause of namespace shop since …, by ann: moving".
func holdText(hold *workloadresizerv1.Hold) string {
	text := fmt.Sprintf("%s of %s since %s", print.HoldKind(hold), heldText(hold.GetScope()), print.Timestamp(hold.GetCreateTime()))
	if hold.GetExpireTime() != nil {
		text += " until " + print.Timestamp(hold.GetExpireTime())
	}
	if hold.GetAuthor() != "" {
		text += ", by " + print.OneLine(hold.GetAuthor())
	}
	if hold.GetReason() != "" {
		text += ": " + print.OneLine(hold.GetReason())
	}
	return text
}

func heldText(scope *workloadresizerv1.HoldScope) string {
	if scope.GetWorkload() != nil {
		return print.WorkloadName(scope.GetWorkload())
	}
	return print.Scope(scope)
}

func (f *facts) doneStep(p print.Painter) string {
	switch why := f.unknown("resize"); {
	case why != "":
		return "Done: unknown: " + why
	case f.GetResize() == nil && f.because("Restored"):
		return "Done: the pod has no changes by workload-resizer."
	case f.GetResize() == nil:
		return "Done: the pod has not been sized yet."
	}
	state := resizes.State(f.GetResize().GetState())
	did := fmt.Sprintf("the pod was sized for %s at %s", print.OneLine(f.GetResize().GetNodeType()), print.Timestamp(f.GetResize().GetApplyTime()))
	if resizes.Partly(f.GetResize()) {
		did = "the pod is partly sized, and the rest " + resizes.RestText(f.plan)
	}
	if demands := resizes.Demands(f.GetResize()); demands != "" {
		did += ", by usage: " + demands
	}
	text := fmt.Sprintf("Done: %s; state on the node: %s", did, p.Paint(state.Style, state.Text))
	if f.GetResize().GetMessage() != "" {
		text += ": " + print.OneLine(f.GetResize().GetMessage())
	}
	return text + "."
}

func (f *facts) nowStep(p print.Painter) string {
	switch f.plan.GetDecision() {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		return "Now: the pod will be resized: " + strings.Join(changes(p, f.plan), ", ") + "."
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		if f.GetResize() != nil && f.GetResize().GetState() != workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED {
			return "Now: nothing to write, the pod requests its desired size; the node still has to apply it."
		}
		if stays := resizes.WhyStays(f.plan); stays != "" {
			return "Now: nothing, the pod keeps its size: " + stays + "."
		}
		return "Now: nothing, the pod has its desired size."
	case workloadresizerv1.Decision_DECISION_SKIP:
		if reasons := f.plan.GetReasons(); len(reasons) > 0 {
			return "Now: nothing, the pod is skipped: " + print.OneLine(reasons[0].GetCode()) + "."
		}
		return "Now: nothing, the pod is skipped."
	}
	return "Now: " + print.Decision(f.plan.GetDecision()) + "."
}

// again says until when the plan stays if nothing changes; empty if time does not change it.
func (f *facts) again() string {
	if f.GetReplanTime() == nil {
		return ""
	}
	return " Time alone may change this: the pod is planned again by " + print.Timestamp(f.GetReplanTime()) + "."
}

// resumedStep says what the end of the freeze and the holds would do; empty if none covers the pod.
func (f *facts) resumedStep(p print.Painter) string {
	told := print.Each(f.GetPlanWithoutHolds().GetReasons(), print.Reason)
	switch {
	case f.GetPlanWithoutHolds() == nil:
		return ""
	case f.GetPlanWithoutHolds().GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE:
		// A resize may have made the pod worse, and a pause prevents the revert.
		text := "Without holds: the pod would be resized: " + strings.Join(changes(p, f.GetPlanWithoutHolds()), ", ")
		if len(told) > 0 {
			text += " (" + strings.Join(told, "; ") + ")"
		}
		return text + "."
	case f.GetPlanWithoutHolds().GetDecision() == workloadresizerv1.Decision_DECISION_ALIGNED:
		return "Without holds: nothing would change, the pod has the size that it would get."
	}
	return "Without holds: the pod would be skipped: " + strings.Join(told, "; ") + "."
}

// changes returns what a plan would write, e.g. "app cpu 1 → 800m".
func changes(p print.Painter, plan *workloadresizerv1.Plan) []string {
	var told []string
	for _, c := range plan.GetContainers() {
		for _, name := range resourceNames {
			for _, of := range []struct {
				what     string
				from, to map[string]string
			}{
				{name, c.GetCurrent().GetRequests(), c.GetDesired().GetRequests()},
				{name + " limit", c.GetCurrent().GetLimits(), c.GetDesired().GetLimits()},
			} {
				if of.from[name] != of.to[name] {
					cell := print.Change(of.from[name], of.to[name])
					told = append(told, print.OneLine(c.GetName())+" "+of.what+" "+p.Paint(cell.Style, cell.Text))
				}
			}
		}
	}
	return told
}
