package plan

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// align plans a pod whose spec already has the desired size, as far as we may change it. The
// pod is aligned unless its node refuses that size.
func (p *Planner) align(plan *Plan, s *Snapshot, now progress, bounds policy.Bounds) *Plan {
	if p.putBack(plan, s, now, bounds) {
		return plan
	}
	plan.Decision = Align
	unfinished := plan.sized && plan.unrecordedApplied() || plan.unrecordedBesides() || plan.noteInfeasible != ""
	switch held := plan.withheld(); {
	case plan.left && !unfinished:
		// Everything possible is done; the reasons say what is not.
		plan.Decision = Skip
	case now.code != "":
		plan.explainBounds()
		plan.before(now.code, orKubeletSaysNothing(now.message))
	case plan.left:
	case !held:
		plan.explainBounds()
		plan.before(contract.AlreadyAligned, "the pod has the size for node type "+plan.NodeType)
	case plan.Applied == "" && !plan.resized() && !plan.sized && !unfinished:
		// The pod was never changed, and cannot be.
		plan.Decision = Skip
	}
	if plan.unmeasured != "" {
		plan.because(contract.NotMeasured, "not known since the last resize, so nothing is reverted because of it: "+plan.unmeasured)
	}
	if plan.resized() {
		plan.explainAutoscalers(s, original, "compared with the original requests")
	}
	return plan
}

func orKubeletSaysNothing(message string) string {
	if message == "" {
		return "the kubelet gives no details"
	}
	return message
}

// unready returns the veto against changing the sizes of a pod now; whole means that it also
// applies to a smaller change.
func (p *Plan) unready(s *Snapshot, now progress) (veto *safety.Veto, whole bool) {
	if p.Kind == Restore {
		return nil, false // A restore that a user requested does not wait.
	}
	if r := s.Refused; r != nil && r.stands(p, s) {
		return &safety.Veto{Reason: r.Reason.Code, Message: r.Reason.Message}, true
	}
	switch {
	case p.Kind == Revert:
		// A pod in distress does not wait.
	case now.code == contract.ResizeInProgress && !now.overdue:
		return &safety.Veto{Reason: now.code, Message: "the previous resize is still in progress"}, true
	case now.code == contract.ResizeDeferred && p.grows():
		// The node may have room for a smaller size than the pending one.
		return &safety.Veto{Reason: now.code, Message: "the previous resize is still pending: " + now.message}, false
	}
	return nil, false
}

func original(c *ContainerPlan) *sizing.Container { return &c.Original }
func current(c *ContainerPlan) *sizing.Container  { return &c.Current }
func desired(c *ContainerPlan) *sizing.Container  { return &c.Desired }

// asksFor returns what the plan requests of a node as one string for comparisons: the sizes,
// and the capacity and identity of the node.
func (p *Plan) asksFor(s *Snapshot, of func(*ContainerPlan) *sizing.Container) string {
	text := fmt.Sprint(p.Node, amountsOf(p, of))
	if node := s.Around.Node; node != nil {
		text += " " + node.Status.Allocatable.Cpu().String() + " " + node.Status.Allocatable.Memory().String() + " " + MachineOf(node)
	}
	return text
}
