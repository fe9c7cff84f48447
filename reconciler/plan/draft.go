package plan

import (
	"slices"
	"sync"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// draft is a plan in the making: the plan as far as the stages have come, and what later stages must know.
// Only apply changes it; stages read it.
type draft struct {
	*Plan
	of    *pod.Pod
	state state
	rule  Ruling
	// now is what the node says about the last resize.
	now progress
	// parts belong to Plan.Containers.
	parts []part
	// applied is the node type that the pod was last sized for, according to its annotation, and sized means that
	// we resized the pod before.
	applied string
	sized   bool
	// creating means that the pod is being created.
	creating bool
	// failed is the failure that the pod records; nil if it records none. It no longer counts once a
	// plan succeeds.
	failed *Failure
	// outdated means that the pod records an answer of its node that no longer counts. The next record removes it.
	outdated bool
	keep     keeping
	proof    proof
	restore  restoring
	// note is the annotation to write if the node refuses any size; empty if it does not, or if the annotation
	// exists already. recounted is the record of the last resize, as a revert or a RevertRefused changes it; empty if
	// it need not be written.
	note, recounted string
	// blocked is the revert that the node has no room for; nil if there is none.
	blocked *blockedRevert
	// scaledBy are the HorizontalPodAutoscalers of the pod's workload; nil if the size of the pod does not follow usage.
	scaledBy []*autoscalingv2.HorizontalPodAutoscaler
	// scratch is for the verdict of the stage that judges now, and spoke means that the last one used it.
	scratch *verdict
	spoke   bool
}

// result has room for the plan of a pod with few containers, as most have, so that it needs one allocation.
type result struct {
	plan       Plan
	containers [2]ContainerPlan
	derivation [4]Derived
	reasons    [1]Reason
}

// drafts has drafts whose plans are made.
var drafts = sync.Pool{New: func() any { return &draft{scratch: &verdict{}} }}

// done keeps a copy of the draft for the actions of the plan, if there may be any.
func (d *draft) done() *Plan {
	d.assignCauses()
	plan := d.Plan
	plan.made = d
	if plan.Pending() {
		made := *d
		made.scratch, made.parts = nil, slices.Clone(d.parts)
		plan.made = &made
	} else {
		plan.made = nil
	}
	*d.scratch = verdict{}
	*d = draft{scratch: d.scratch, parts: d.parts[:0]}
	drafts.Put(d)
	return plan
}

// part is what the stages must know of a container besides its plan.
type part struct {
	of *pod.Container
	// standings say what may be done with cpu and memory, by sizing.Measure.Index.
	standings [2]pod.Standing
	// These have a bit for each contract.Original. unannotated: it must be written.
	// takesOver: another manager wrote it, and we must become its owner. adopts: the plan
	// adopts the amount that another actor set, or will set when the pod has started. outdated: it is recorded as adopted, but
	// that record no longer applies.
	unannotated, takesOver, adopts, outdated uint8
	// derived has a number for cpu and memory: how many sizes the derivation had with the last one of the resource.
	derived [2]int32
	// boosted means that the present cpu was boosted because the container started. boost is the boosted cpu that a stage
	// wants it to have; zero if it wants none.
	boosted bool
	boost   sizing.Amount
	tested
}

// tested is what the last resize of a container has not proven yet.
type tested struct {
	// unproven is the size of cpu and memory before a resize that is still observed, by sizing.Measure.Index.
	unproven [2]sizing.Amount
	// restarts is how often the container had restarted before the observed resize. If no resize is
	// observed, it is how often the container has restarted until now.
	restarts int32
	// unboosts means that the observed resize ended a boost of cpu.
	unboosts bool
}

// state is how far a draft is decided.
type state uint8

const (
	// These two are open: the pod may get different sizes. aligned: so far, it keeps those that it has. changing: it
	// does not.
	aligned state = 1 << iota
	changing
	// held: the pod is not sized, because its ratio is missing or not used. Resizes that made it worse are still reverted.
	held
	// stays: the pod keeps its sizes, unless its node refuses them.
	stays
	// decided: no stage changes a size after this.
	decided

	open     = aligned | changing
	anyState = open | held | stays | decided
)

// begin returns the draft of a pod with its current sizes on its node, by the ruling of the table.
func (p *Planner) begin(s *Snapshot) *draft {
	of := s.Pod
	d, into := drafts.Get().(*draft), &result{}
	d.Plan, d.of = &into.plan, of
	r := &d.rule
	r.profile = s.Table.Profile(of)
	p.rule(r, s.Around.Node, s.NodeType)
	d.Pod, d.UID, d.ResourceVersion = of.NamespacedName(), of.UID, of.ResourceVersion()
	d.QOSClass, d.Node, d.Workloads = of.QOSClass(), of.Node(), s.Workloads
	d.NodeType, d.NodeTypeLabel, d.Rule = r.NodeType, r.Label, r.profile.Name
	d.guard = &r.profile.Guard
	d.Baseline, d.Revision = r.profile.Baseline, s.Table.Revision
	d.FollowsUsage = s.Demand != nil && !s.Restore
	d.failed = FailureOf(of)
	if len(of.Conditions()) > 0 { // Most pods have none.
		d.now = s.progress()
	}
	d.state, d.sized, d.creating = aligned, !of.ResizedAt().IsZero(), s.Creating
	d.Containers, d.Derivation, d.Reasons = into.containers[:0], into.derivation[:0], into.reasons[:0]
	if n := len(of.Containers); n > len(into.containers) {
		d.Containers, d.Derivation = make([]ContainerPlan, 0, n), make([]Derived, 0, 2*n)
	}
	d.parts = slices.Grow(d.parts[:0], len(of.Containers))
	d.applied, _ = of.Applied()
	d.outdated = of.Answers() && !stillInfeasible(s)
	switch {
	case (d.sized || d.applied != "") && !of.SizedAtCreation():
	case s.Now.Sub(of.StartedAt()).Abs() < NewFor: // A node's clock may be wrong.
		d.Past = New
	case !of.SizedAtCreation():
		d.Past = Unsized
	}
	if r.entry != nil {
		d.CPUFactor, d.MemoryFactor = r.entry.CPUFactor, r.entry.MemoryFactor
	}
	if s.Demand != nil && !s.Restore {
		d.scaledBy = s.autoscalers()
	}
	for i := range of.Containers {
		c := &of.Containers[i]
		// A restore also covers sidecars that were resized when Sidecars was set.
		if c.Init() && (!c.Sidecar() || !p.Sidecars && (!s.Restore || !c.Annotated() && !c.Resized())) {
			continue
		}
		p.add(d, s, i)
	}
	if d.keepsDemand() && !s.Restore && !s.imagines() {
		demand := of.AppliedDemand()
		for i := range d.Containers {
			d.Containers[i].kept = demand.Of(d.Containers[i].Name).Amounts
		}
	}
	d.findBoosts()
	if d.QOSClass == "" {
		d.QOSClass = d.classAfter(of)
	}
	return d
}

// add adds a container with its present sizes. index is its index in the pod.
func (p *Planner) add(d *draft, s *Snapshot, index int) {
	n, of := len(d.Containers), &s.Pod.Containers[index]
	d.Containers, d.parts = d.Containers[:n+1], d.parts[:n+1]
	c, has := &d.Containers[n], &d.parts[n]
	*has = part{}
	c.Name, c.Sidecar, c.index = of.Name(), of.Sidecar(), int32(index)
	c.Original, c.Current, c.Desired = of.Original, of.Spec, of.Spec
	c.Needs = d.rule.authored(&of.Original)
	has.of, has.standings, has.restarts = of, of.Standings, of.RestartCount()
	has.unannotated, has.takesOver, has.outdated = of.Unannotated, of.TakesOver, of.Outdated
	if !s.Creating {
		has.unannotated, has.adopts = has.unannotated|of.Raises(), of.Raises()
	}
	if d.FollowsUsage {
		d.recommend(c, of, s, p.External)
	}
}

// fork returns a copy of the draft, for a stage that must know what would become of it.
func (d *draft) fork() *draft {
	copied, plan := *d, *d.Plan
	copied.Plan = &plan
	copied.scratch, copied.spoke = &verdict{}, false
	copied.Containers, copied.parts = slices.Clone(d.Containers), slices.Clone(d.parts)
	copied.Reasons, copied.Derivation = slices.Clone(d.Reasons), slices.Clip(d.Derivation)
	return &copied
}

// last returns what gave a resource its present size; nil if there is none.
func (d *draft) last(container int, m *sizing.Measure) *Derived {
	if n := d.parts[container].derived[m.Index]; n > 0 {
		return &d.Derivation[n-1]
	}
	return nil
}

// ours reports whether we may change a resource.
func (d *draft) ours(container int, m *sizing.Measure) bool {
	return d.parts[container].standings[m.Index].Ours()
}

// assignCauses says why each resource changes.
func (d *draft) assignCauses() {
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			cause := Unchanged
			switch {
			case *m.Of(&c.Desired) != *m.Of(&c.Current):
				cause = d.last(i, m).Cause
			case !d.ours(i, m):
				cause = NotOurs
			}
			c.Causes[m.Index] = cause
		}
	}
}

// factor returns the factor of a resource.
func (b *Basis) factor(m *sizing.Measure) sizing.Factor {
	if m == sizing.CPU {
		return b.CPUFactor
	}
	return b.MemoryFactor
}
