package plan

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// align plans a pod whose spec is what it should be, as far as it is ours to change:
// unless its node refuses it, it is aligned.
func (p *Planner) align(plan *Plan, s *Snapshot, now progress, bounds ratios.Bounds) *Plan {
	if p.putBack(plan, s, now, bounds) {
		return plan
	}
	plan.Decision = Align
	// Of a pod that lost an original, nothing is made to look as if it were known.
	unfinished := plan.sized && plan.Applied != plan.NodeType && !plan.lost || plan.corrected || plan.adoptionsChange() || plan.noteInfeasible != ""
	switch held := plan.withheld(); {
	case plan.left && !unfinished:
		// What was to be done is done, and people have to know what was not.
		plan.Decision = Skip
	case now.code != "":
		plan.explainBounds()
		plan.before(now.code, orKubeletSaysNothing(now.message))
	case plan.left:
	case !held:
		plan.explainBounds()
		plan.before(contract.AlreadyAligned, "the requests are what node type "+plan.NodeType+" needs")
	case plan.Applied == "" && !plan.resized() && !plan.sized && !unfinished:
		// Nothing was ever done to the pod, and nothing can be.
		plan.Decision = Skip
	}
	return plan
}

func orKubeletSaysNothing(message string) string {
	if message == "" {
		return "the kubelet says nothing more"
	}
	return message
}

// unready says why the sizes of a pod must not be changed just now; whole says that
// less of a change must not be either.
func (p *Plan) unready(s *Snapshot, now progress) (veto *safety.Veto, whole bool) {
	if p.Kind == Restore {
		return nil, false // What a person asked for is not kept waiting.
	}
	if r := s.Refused; r != nil && r.stands(p, s) {
		return &safety.Veto{Reason: r.Reason.Code, Message: r.Reason.Message}, true
	}
	switch {
	case now.code == contract.ResizeInProgress && !now.overdue:
		return &safety.Veto{Reason: now.code, Message: "the resize before is not done yet"}, true
	case now.code == contract.ResizeDeferred && p.grows():
		// Less than what waits may be what the node has room for.
		return &safety.Veto{Reason: now.code, Message: "the resize before still waits: " + now.message}, false
	}
	return nil, false
}

func current(c *ContainerPlan) *sizing.Container { return &c.Current }
func desired(c *ContainerPlan) *sizing.Container { return &c.Desired }

// asksFor is what is asked of a node, as one text to be compared: the sizes, and what the
// node has.
func (p *Plan) asksFor(s *Snapshot, of func(*ContainerPlan) *sizing.Container) string {
	text := fmt.Sprint(p.Node, amountsOf(p, of))
	if node := s.Around.Node; node != nil {
		text += " " + node.Status.Allocatable.Cpu().String() + " " + node.Status.Allocatable.Memory().String() + " " + MachineOf(node)
	}
	return text
}
