package plan

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// DefaultOwnerKinds are the kinds of controllers whose pods are resized.
var DefaultOwnerKinds = []string{"ReplicaSet", "StatefulSet", "DaemonSet", "Job"}

// Planner decides what becomes of a pod. It is pure: the same snapshot gives
// the same plan.
type Planner struct {
	// OwnerKinds are the kinds of controllers whose pods are resized.
	OwnerKinds []string
	// NodeTypes tells the type of a node.
	NodeTypes nodetype.Resolver
	// KeepMemoryLimits tells that the API server does not let a memory limit
	// shrink without a restart (Kubernetes 1.33).
	KeepMemoryLimits bool
	// Sidecars has restartable init containers resized too.
	Sidecars bool
	// External says what becomes of sizes that somebody else set.
	External External
}

// Plan plans one pod. The order of what can speak against a resize is that of the
// doc.go of package safety.
func (p *Planner) Plan(s *Snapshot) *Plan {
	plan, entry, bounds := p.begin(s)
	if s.Restore {
		return p.restore(plan, s)
	}
	if veto := safety.Scope(safety.Snapshot{Pod: s.Pod, OwnerKinds: p.OwnerKinds, Paused: s.Paused, VPA: s.VPA}); veto != nil {
		return plan.Skip(veto)
	}
	if entry == nil {
		return plan.Skip(p.noRatio(plan, s.Around.Node))
	}
	plan.fillOriginals(s.Pod)
	plan.scaleAll(bounds)
	p.external(plan, bounds)
	plan.explainUnknown()
	p.withhold(plan, s)
	now := s.progress()
	plan.ReplanAt = now.replanAt
	if !plan.differs() {
		return p.align(plan, s, now, bounds)
	}
	veto := plan.agree(s, now)
	if s.Around.Infeasible != nil && plan.ReplanAt.IsZero() {
		plan.ReplanAt = s.InfeasibleUntil
	}
	if veto != nil {
		plan.Skip(veto)
		// The spec must not go on asking for what the node refuses.
		p.putBack(plan, s, now, bounds)
		return plan
	}
	plan.explainBounds()
	if s.Autoscalers != nil {
		before, after := plan.sizes(s.Pod)
		for _, hpa := range s.Autoscalers() {
			if warning := safety.HPAWarning(hpa, s.Pod, before, after); warning != "" {
				plan.because(contract.HPAUtilization, warning)
			}
		}
	}
	plan.Decision = Resize
	return plan
}

// begin notes what the pod has and what its node is. entry is nil if the node's
// type has no ratio.
func (p *Planner) begin(s *Snapshot) (plan *Plan, entry *ratios.Entry, bounds ratios.Bounds) {
	of := s.Pod
	r := p.Rule(of, s.Around.Node, s.NodeType, s.Table)
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
		Workloads:       s.Workloads,
	}
	for i := range of.Containers {
		c := &of.Containers[i]
		// A restore undoes what was done when sidecars were resized.
		if !c.Init() || c.Sidecar() && (p.Sidecars || s.Restore && (c.Recorded() || c.Resized())) {
			plan.Containers = append(plan.Containers, ContainerPlan{
				Name: c.Name(), Original: c.Spec, Current: c.Spec, Desired: c.Spec, Sidecar: c.Sidecar(), of: c, index: i,
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
	return plan, r.entry, r.profile.Bounds
}

// sizes lists all containers of the pod as they are and as they would be.
func (p *Plan) sizes(of *pod.Pod) (before, after safety.Sizes) {
	n := len(of.Containers)
	all := make(safety.Sizes, 2*n)
	before, after = all[:n:n], all[n:]
	for i := range of.Containers {
		before[i] = of.Containers[i].Spec
	}
	copy(after, before)
	for i := range p.Containers {
		after[p.Containers[i].index] = p.Containers[i].Desired
	}
	return before, after
}

// classAfter is the QoS class that the pod would have.
func (p *Plan) classAfter(of *pod.Pod) corev1.PodQOSClass {
	_, after := p.sizes(of)
	return sizing.QOSClass(after)
}

// noRatio says why the node of the plan has no ratio.
func (p *Planner) noRatio(plan *Plan, node *corev1.Node) *safety.Veto {
	switch {
	case plan.NodeType != "" && plan.NodeTypeLabel == "":
		return &safety.Veto{Reason: contract.UnknownNodeType, Message: fmt.Sprintf("node type %q has no ratio", plan.NodeType)}
	case node == nil:
		return &safety.Veto{Reason: contract.NodeNotFound, Message: fmt.Sprintf("node %s is not known", plan.Node)}
	case plan.NodeType == "":
		return &safety.Veto{Reason: contract.NodeTypeUnlabelled, Message: fmt.Sprintf("node %s has none of the labels %s", plan.Node, strings.Join(p.NodeTypes.TellingLabels(), ", "))}
	}
	return &safety.Veto{Reason: contract.UnknownNodeType, Message: fmt.Sprintf("node %s is of type %q (label %s), which has no ratio", plan.Node, plan.NodeType, plan.NodeTypeLabel)}
}

// scaleAll works out the sizes.
func (p *Plan) scaleAll(bounds ratios.Bounds) {
	for i := range p.Containers {
		for _, r := range sizing.Measures {
			p.scale(&p.Containers[i], r, bounds)
		}
	}
}

// scale works out one resource, and leaves it as it is where it is not ours to change.
func (p *Plan) scale(c *ContainerPlan, r *sizing.Measure, bounds ratios.Bounds) {
	s, current := &c.standings[r.Index], *r.Of(&c.Current)
	to, clamped := r.Scale(*r.Of(&c.Original), p.factor(r), boundsOf(bounds, r))
	if s.Adopted != 0 {
		to = p.asAdopted(c, r, to, clamped)
	}
	*r.Of(&c.Desired) = settle(*s, r, current, to)
	c.clamped[r.Index] = clamped && s.Ours()
}

// asAdopted keeps what was adopted where the original comes to as good as that: there and
// back, not every size comes out the same. A limit beside an
// adopted request goes with the factor alone, for the same reason.
func (p *Plan) asAdopted(c *ContainerPlan, r *sizing.Measure, to sizing.Amount, clamped bool) sizing.Amount {
	s, original, current, f := &c.standings[r.Index], *r.Of(&c.Original), *r.Of(&c.Current), p.factor(r)
	// What is lost is half a millicore, times the factor back, or less than a Mi.
	lost := float64(r.Unit)
	if r == sizing.CPU {
		lost += math.Ceil(f.Float64())
	}
	as := func(a, b int64) bool { return float64(max(a-b, b-a)) <= lost }
	// What a bound decides is not what is lost.
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
	if s.Adopted&(1<<r.Limit) != 0 && as(to.Limit, current.Limit) {
		to.Limit = current.Limit
	}
	switch {
	case to.Limit == 0 || to.Limit > to.Request:
		// What was adopted may be above its request by less than a unit.
	case original.Limit > original.Request:
		to.Limit = min(to.Request+r.Unit, r.Most)
	default:
		to.Limit = to.Request
	}
	return to
}

// unscaled returns the original of which the parts come from what the container
// has now; it has a bit for each of them. A limit comes from what it is beside the
// request that the container is to have.
func (p *Plan) unscaled(c *ContainerPlan, r *sizing.Measure, parts uint8, bounds ratios.Bounds) sizing.Amount {
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

// explainUnknown says what stays because its original is not known.
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

// explainStays says why a resource stays that is not ours to change.
func (p *Plan) explainStays(c *ContainerPlan, r *sizing.Measure) {
	p.left = true
	present := r.Show(*r.Of(&c.Current))
	switch s := &c.standings[r.Index]; {
	case s.Claim == pod.Lost:
		p.because(contract.InvalidAnnotation, fmt.Sprintf("container %s: %s stays: %s", c.Name, r.Name, c.of.WhyLost(r)))
	case c.knows(r):
		p.because(contract.ExternallyResized, fmt.Sprintf("container %s: %s stays as %s set it (%s, originally %s)", c.Name, r.Name, c.of.SetBy(r), present, r.Show(*r.Of(&c.Original))))
	default:
		p.because(contract.ExternallyResized, fmt.Sprintf("container %s: %s stays as %s set it (%s), and its original is not known", c.Name, r.Name, c.of.SetBy(r), present))
	}
}

// explainBounds says where a bound decided.
func (p *Plan) explainBounds() {
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, r := range sizing.Measures {
			if c.clamped[r.Index] {
				f := p.factor(r)
				p.because(contract.BoundsClamped, fmt.Sprintf("container %s: %s %s × %.4g is held at %s", c.Name, r.Name,
					r.Text(r.Of(&c.Original).Request), f.Float64(), r.Text(r.Of(&c.Desired).Request)))
			}
		}
	}
}
