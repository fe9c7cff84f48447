package plan

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

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

// Plan plans one pod. The documentation of package safety lists the checks in their order.
func (p *Planner) Plan(s *Snapshot) *Plan {
	plan := p.choose(s)
	plan.heed(s)
	return plan
}

// choose plans one pod, regardless of what became of the same plan before.
func (p *Planner) choose(s *Snapshot) *Plan {
	plan := p.plan(s, true)
	if plan.Kind == Revert && plan.Decision == Skip && (plan.undoes || plan.completes) && len(plan.reverts) == 0 {
		// The size before does not fit, perhaps for days. By now, a smaller one may be desired that fits. While only
		// requests do not fit, the pod is sized like all others.
		if other := p.plan(s, false); !plan.undoes || other.eases(plan) {
			other.replanAt(plan.ReplanAt)
			return other
		}
	}
	return plan
}

// plan plans one pod. finishes reports whether it finishes reverts that were recorded, but not made.
func (p *Planner) plan(s *Snapshot, finishes bool) *Plan {
	plan, r := p.begin(s)
	plan.finishes = finishes
	entry, bounds := r.entry, r.profile.Bounds
	if s.Restore {
		return p.restore(plan, s)
	}
	if veto := safety.Scope(safety.Snapshot{Pod: s.Pod, OwnerKinds: p.OwnerKinds, Frozen: s.Frozen, Paused: s.Paused, VPA: s.VPA}); veto != nil {
		return plan.Skip(veto)
	}
	if entry == nil {
		return p.revertOr(plan.Skip(p.noRatio(plan, s.Around.Node)), s, r.profile)
	}
	plan.fillOriginals(s.Pod)
	plan.scaleAll(bounds)
	if entry.Unused != "" {
		return p.revertOr(plan.Skip(&safety.Veto{Reason: contract.ImplausibleRatio, Message: entry.Unused}), s, r.profile)
	}
	p.external(plan, s, bounds)
	plan.explainUnknown()
	p.withhold(plan, s)
	now := s.progress()
	plan.ReplanAt = now.replanAt
	plan.contain(s, r.profile, bounds)
	if plan.awaitsReadiness(s) {
		p.putBack(plan, s, now, bounds)
		return plan
	}
	if plan.tryOut(s, r.profile, func(counts func(*pod.Pod) bool) []*pod.Pod { return p.alike(s, &r, counts) }) {
		if Waits(plan.Reasons[0].Code) == Nowhere {
			plan.hearOfBudgets(s.Now)
		}
		p.putBack(plan, s, now, bounds)
		return plan
	}
	if !plan.differs() {
		return p.align(plan, s, now, bounds)
	}
	if s.Around.Infeasible != nil {
		plan.replanAt(s.InfeasibleUntil)
	}
	if plan.Kind == Revert {
		plan.decideRevert(s, now)
		return plan
	}
	veto := plan.agree(s, now)
	if veto == nil {
		veto = plan.degraded(s)
	}
	if s.KeptUntil != nil && (plan.Partial == contract.NodeCapacity || veto != nil && veto.Reason == contract.NodeCapacity) {
		plan.replanAt(s.KeptUntil())
	}
	if veto != nil {
		plan.hearOfBudgets(s.Now)
		plan.Skip(veto)
		// The spec must not keep a size that the node refuses.
		p.putBack(plan, s, now, bounds)
		return plan
	}
	if plan.outside(r.profile, s.Now) {
		p.putBack(plan, s, now, bounds)
		return plan
	}
	plan.dropClaims()
	plan.explainBounds()
	plan.explainAutoscalers(s, current, "after this resize")
	plan.Decision = Resize
	return plan
}

// begin starts a plan with the pod's current sizes and its node, by the ruling of the table.
func (p *Planner) begin(s *Snapshot) (plan *Plan, r Ruling) {
	of := s.Pod
	r = p.Rule(of, s.Around.Node, s.NodeType, s.Table)
	applied, _ := of.Applied()
	plan = &Plan{
		Pod:             of.NamespacedName(),
		UID:             of.UID,
		ResourceVersion: of.ResourceVersion(),
		QOSClass:        of.QOSClass(),
		Node:            of.Node(),
		NodeType:        r.NodeType,
		NodeTypeLabel:   r.Label,
		Rule:            r.profile.Name,
		Baseline:        r.profile.Baseline,
		Revision:        s.Table.Revision,
		Containers:      make([]ContainerPlan, 0, len(of.Containers)),
		Applied:         applied,
		sized:           !of.ResizedAt().IsZero(),
		new:             s.Now.Sub(of.StartedAt()).Abs() < NewFor, // A node's clock may be wrong.
		Workloads:       s.Workloads,
		earlier:         of.Reverts(),
		theirRecord:     of.TheirRecord(),
		failed:          FailureOf(of),
	}
	for i := range of.Containers {
		c := &of.Containers[i]
		// A restore also covers sidecars that were resized when Sidecars was set.
		if !c.Init() || c.Sidecar() && (p.Sidecars || s.Restore && (c.Recorded() || c.Resized())) {
			plan.Containers = append(plan.Containers, ContainerPlan{
				Name: c.Name(), Original: c.Spec, Current: c.Spec, Desired: c.Spec, Sidecar: c.Sidecar(), of: c, index: i, restarts: c.RestartCount(),
			})
		}
	}
	if plan.QOSClass == "" {
		plan.QOSClass = plan.classAfter(of)
	}
	if of.Answers() {
		plan.dropInfeasible = !stillInfeasible(s)
	}
	if r.entry != nil {
		plan.CPUFactor, plan.MemoryFactor = r.entry.CPUFactor, r.entry.MemoryFactor
	}
	return plan, r
}

// sizes returns the sizes of all containers of the pod before and after the plan; from returns
// the size of a container before it.
func (p *Plan) sizes(of *pod.Pod, from func(*ContainerPlan) *sizing.Container) (before, after safety.Sizes) {
	n := len(of.Containers)
	all := make(safety.Sizes, 2*n)
	before, after = all[:n:n], all[n:]
	for i := range of.Containers {
		before[i] = of.Containers[i].Spec
	}
	copy(after, before)
	for i := range p.Containers {
		c := &p.Containers[i]
		before[c.index], after[c.index] = *from(c), c.Desired
	}
	return before, after
}

// classAfter returns the QoS class of the pod after the plan.
func (p *Plan) classAfter(of *pod.Pod) corev1.PodQOSClass {
	_, after := p.sizes(of, current)
	return sizing.QOSClass(after)
}

// noRatio returns the veto for a node without a ratio.
func (p *Planner) noRatio(plan *Plan, node *corev1.Node) *safety.Veto {
	switch {
	case plan.NodeType != "" && plan.NodeTypeLabel == "":
		return &safety.Veto{Reason: contract.UnknownNodeType, Message: fmt.Sprintf("node type %q has no ratio", plan.NodeType)}
	case node == nil:
		return &safety.Veto{Reason: contract.NodeNotFound, Message: fmt.Sprintf("node %s is not known", plan.Node)}
	case plan.NodeType == "":
		lacks, labels := "does not have the label", p.NodeTypes.TellingLabels()
		if len(labels) > 1 {
			lacks = "has none of the labels"
		}
		return &safety.Veto{Reason: contract.NodeTypeUnlabelled, Message: fmt.Sprintf("node %s %s %s", plan.Node, lacks, strings.Join(labels, ", "))}
	}
	return &safety.Veto{Reason: contract.UnknownNodeType, Message: fmt.Sprintf("node %s has type %q (label %s), which has no ratio", plan.Node, plan.NodeType, plan.NodeTypeLabel)}
}

// scaleAll computes the desired sizes.
func (p *Plan) scaleAll(bounds policy.Bounds) {
	for i := range p.Containers {
		for _, r := range sizing.Measures {
			p.scale(&p.Containers[i], r, bounds)
		}
	}
}

// scale computes the desired size of one resource. The size stays if we must not change it.
func (p *Plan) scale(c *ContainerPlan, r *sizing.Measure, bounds policy.Bounds) {
	s, current := &c.standings[r.Index], *r.Of(&c.Current)
	to, clamped := r.Scale(*r.Of(&c.Original), p.factor(r), boundsOf(bounds, r))
	if s.Adopted != 0 {
		to = p.asAdopted(c, r, to, clamped)
	}
	*r.Of(&c.Desired) = settle(*s, r, current, to)
	c.clamped[r.Index] = clamped && s.Ours()
}

// asAdopted keeps an adopted amount if its original scales to nearly the same amount: some
// amounts change when they are unscaled and scaled again. For the same reason, a limit next
// to an adopted request scales by the factor alone.
func (p *Plan) asAdopted(c *ContainerPlan, r *sizing.Measure, to sizing.Amount, clamped bool) sizing.Amount {
	s, original, current, f := &c.standings[r.Index], *r.Of(&c.Original), *r.Of(&c.Current), p.factor(r)
	// Rounding loses half a millicore, times the factor on the way back, or less than a Mi.
	lost := float64(r.Unit)
	if r == sizing.CPU {
		lost += math.Ceil(f.Float64())
	}
	as := func(a, b int64) bool { return float64(max(a-b, b-a)) <= lost }
	// A difference that a bound causes is not a rounding loss.
	kept := to.Request == current.Request || !clamped && as(to.Request, current.Request)
	if s.Adopted&(1<<r.Request) != 0 && kept {
		if s.Adopted&(1<<r.Limit) == 0 && original.Limit > original.Request {
			limit, _ := r.Scale(sizing.Amount{Request: original.Limit}, f, sizing.Range{})
			if to.Limit = max(limit.Request, current.Request+r.Unit); as(to.Limit, current.Limit) {
				to.Limit = current.Limit
			}
		}
		to.Request = current.Request
	}
	if s.Adopted&(1<<r.Limit) != 0 {
		// The limit next to a request that is rounded up may be off by one more unit than the
		// limit alone.
		alone, _ := r.Scale(sizing.Amount{Request: original.Limit}, f, sizing.Range{})
		if as(to.Limit, current.Limit) || to.Request == current.Request && as(alone.Request, current.Limit) {
			to.Limit = current.Limit
		}
	}
	switch {
	case to.Limit == 0 || to.Limit > to.Request:
		// An adopted limit may be above its request by less than a unit.
	case original.Limit > original.Request:
		to.Limit = min(to.Request+r.Unit, r.Most)
	default:
		to.Limit = to.Request
	}
	return to
}

// unscaled returns the original, computing the given parts (a bit each) from the container's
// current amounts. A limit is computed relative to the request that the container will have.
func (p *Plan) unscaled(c *ContainerPlan, r *sizing.Measure, parts uint8, bounds policy.Bounds) sizing.Amount {
	known, current := *r.Of(&c.Original), *r.Of(&c.Current)
	if parts&(1<<r.Request) != 0 {
		known.Request = 0
	} else {
		to, _ := r.Scale(sizing.Amount{Request: known.Request}, p.factor(r), boundsOf(bounds, r))
		current.Request = to.Request
	}
	if parts&(1<<r.Limit) != 0 {
		known.Limit = 0
	}
	return r.Unscale(current, known, p.factor(r))
}

// explainUnknown adds reasons for resources that stay because their original is unknown.
func (p *Plan) explainUnknown() {
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, r := range sizing.Measures {
			if c.standings[r.Index].Claim == pod.Lost {
				p.explainStays(c, r)
				p.lost = true
			}
		}
	}
}

// explainStays adds the reason why a resource stays that we must not change.
func (p *Plan) explainStays(c *ContainerPlan, r *sizing.Measure) {
	p.left = true
	present := r.Show(*r.Of(&c.Current))
	switch s := &c.standings[r.Index]; {
	case s.Claim == pod.Lost:
		p.because(contract.InvalidAnnotation, fmt.Sprintf("container %s: %s stays: %s", c.Name, r.Name, c.of.WhyLost(r)))
	case c.knows(r):
		p.because(contract.ExternallyResized, fmt.Sprintf("container %s: %s stays as %s set it (%s, originally %s)", c.Name, r.Name, c.of.SetBy(r), present, r.Show(*r.Of(&c.Original))))
	default:
		p.because(contract.ExternallyResized, fmt.Sprintf("container %s: %s stays as %s set it (%s), and its original is unknown", c.Name, r.Name, c.of.SetBy(r), present))
	}
}

// explainBounds adds reasons for requests that a bound determined.
func (p *Plan) explainBounds() {
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, r := range sizing.Measures {
			if c.clamped[r.Index] {
				f := p.factor(r)
				p.because(contract.BoundsClamped, fmt.Sprintf("container %s: %s %s × %.4g is clamped to %s", c.Name, r.Name,
					r.Text(r.Of(&c.Original).Request), f.Float64(), r.Text(r.Of(&c.Desired).Request)))
			}
		}
	}
}

// explainAutoscalers adds what the desired sizes mean for the HorizontalPodAutoscalers of the pod's
// workload, compared with the sizes that from returns. when says which sizes these are.
func (p *Plan) explainAutoscalers(s *Snapshot, from func(*ContainerPlan) *sizing.Container, when string) {
	if s.Autoscalers == nil {
		return
	}
	scalers := s.Autoscalers()
	if len(scalers) == 0 {
		return
	}
	before, after := p.sizes(s.Pod, from)
	for _, hpa := range scalers {
		if warning := safety.HPAWarning(hpa, s.Pod, before, after, when); warning != "" {
			p.because(contract.HPAUtilization, warning)
		}
	}
}
