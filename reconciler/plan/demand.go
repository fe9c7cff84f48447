package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// recommend makes the needs of a container those that usage shows. A size that another actor set, and that stays or
// is adopted, says itself what the pod needs. A request that the author did not write is not added, and no resource
// needs nothing. A resource that a HorizontalPodAutoscaler compares with usage needs what the author wrote.
func (d *draft) recommend(c *ContainerPlan, of *pod.Container, s *Snapshot, external External) {
	shown, now := s.Demand.Of(c.Name)
	withheld := Withheld(d.scaledBy, c.Name)
	shares, known := s.Demand.Share(d.sharedType(s))
	c.memory = now
	for _, m := range sizing.Measures {
		c.Unmeasured[m.Index] = shown == nil || shown.Of(m).Unknown || shown.Of(m).Steady > 0 && !known
		standing := of.Standings[m.Index]
		sizes := standing.Ours() && standing.Adopted == 0 || standing.Claim == pod.Theirs && external == OverrideExternal && c.knows(m)
		if !sizes || m.Of(&c.Current).Request == 0 {
			continue
		}
		n := &c.Needs[m.Index]
		n.Withheld = withheld[m.Index]
		if n.Withheld == "" && !c.Unmeasured[m.Index] && shown.Of(m).Target > 0 {
			n.Recommended, n.Share = shown.Of(m), shares[m.Index]
			n.Largest = d.largest(m, n, s)
		}
	}
}

// Withheld returns why the resources of a container are not sized by usage in any mode, by sizing.Measure.Index, given the
// HorizontalPodAutoscalers of the pod's workload; empty if they may be.
func Withheld(scaledBy []*autoscalingv2.HorizontalPodAutoscaler, container string) (why [2]string) {
	for _, hpa := range scaledBy {
		for _, m := range sizing.Measures {
			why[m.Index] = cmp.Or(why[m.Index], safety.HPATarget(hpa, container, m))
		}
	}
	return why
}

// largest returns what the largest node of the cluster has of a resource, if a container needs more; 0 otherwise. All nodes
// are looked at only if the need exceeds the pod's own.
func (d *draft) largest(m *sizing.Measure, n *need.Need, s *Snapshot) int64 {
	own := node.Allocatable(s.Around.Node)
	if s.Largest == nil || s.imagines() || d.factor(m) == (sizing.Factor{}) || own.Of(m) == 0 && !s.Creating {
		return 0
	}
	size, _ := n.On(m, d.factor(m), d.guaranteed())
	if size.Request <= own.Of(m) {
		return 0
	}
	if largest := s.Largest(); size.Request > largest.Of(m) && largest.Of(m) > 0 {
		return largest.Of(m)
	}
	return 0
}

// unknownNeed is why a container keeps the size that it was given, or needs what its author wrote, while nobody knows what it
// needs.
const unknownNeed = "it is not known what the container needs"

// settle keeps sizes that are near enough to what usage shows, or that changed not long ago. It also keeps them while nothing
// is known of a container that was sized before: a source that fails, and a history that is not read yet, resize nothing. In
// the end, and without a time, everything changed long ago. On an imagined node, a pod has no size to keep. A pod that is
// being created gets exactly what it needs, but no less than its author wrote while too little is known.
func (p *Planner) settle(d *draft, s *Snapshot) *verdict {
	switch {
	case s.imagines():
		return nil
	case !d.FollowsUsage:
		return d.keepDemand()
	}
	v := d.says()
	var applied pod.AppliedSizes
	if s.Pod.AppliedSizesHaveTimes() {
		applied = s.Pod.AppliedSizes()
	}
	var given pod.AppliedDemand // when the pod was created
	if s.Pod.SizedAtCreation() {
		given = s.Pod.AppliedDemand()
	}
	for i := range d.Containers {
		c := &d.Containers[i]
		state := need.State{Needs: c.Needs, Factors: [2]sizing.Factor{d.CPUFactor, d.MemoryFactor}, Size: c.Current, Guaranteed: d.guaranteed()}
		for _, m := range sizing.Measures {
			if !d.ours(i, m) {
				state.Needs[m.Index].Recommended = nil // For example, a VerticalPodAutoscaler sizes it.
			}
		}
		for _, m := range sizing.Measures {
			if has := *m.Of(&c.Current); c.Unmeasured[m.Index] && !d.First() && !d.boosted(i, m) && d.ours(i, m) && c.Needs[m.Index].Withheld == "" && *m.Of(&c.Desired) != has {
				v.sets = append(v.sets, Derived{Container: i, Measure: m, To: has, Why: unknownNeed})
			}
		}
		if state.Needs[0].Recommended == nil && state.Needs[1].Recommended == nil {
			continue
		}
		state.Creating, state.Peak = s.Creating, s.Demand.Peak(c.Name)
		state.KnowsLimit = s.Pod.Containers[c.index].KnowsMemoryLimit() && !s.Creating
		state.Uses, state.Charged = c.memory.Used, c.memory.Charged
		if !s.InTheEnd && !s.Creating {
			state.Now = s.Now
		}
		known := s.Demand.Resized(c.Name)
		state.Resized = d.resizedAt(known, i, applied)
		for _, m := range sizing.Measures {
			state.Unsized[m.Index] = d.First() && known == (need.Resized{}) && given.Of(c.Name).Amounts[m.Index] == 0
		}
		state.Killed, state.Ran = lastKill(s.Pod, c.Name)
		if d.parts[i].boosted {
			state.Size.CPU = d.withoutBoost(i, s, state)
		}
		found := state.Settle()
		v.again = need.Sooner(v.again, found.Again)
		for _, m := range sizing.Measures {
			if state.Needs[m.Index].Recommended == nil {
				continue // For example, it was adopted, and scales from its original.
			}
			has := *m.Of(&state.Size)
			derived := Derived{Container: i, Measure: m, Clamped: found.Clamped[m.Index], Why: found.Why[m.Index]}
			if derived.To = settle(d.parts[i].standings[m.Index], m, has, *m.Of(&found.Size)); derived.To == *m.Of(&c.Desired) {
				continue
			}
			switch {
			case derived.To != has:
				derived.Cause = ByDemand
			case derived.Why != "":
			case found.Recent[m.Index]:
				derived.Why = setLately
			default:
				derived.Why = nearEnough
			}
			v.sets = append(v.sets, derived)
		}
	}
	return v
}

// demandKept is why a size stays that comes from usage.
const demandKept = "the size comes from usage, and a pod keeps it while it runs (demand.mode: initial)"

// keepDemand keeps sizes that came from usage, if a pod gets these only when it is created.
func (d *draft) keepDemand() *verdict {
	if !d.keepsDemand() {
		return nil
	}
	v, applied := d.says(), d.of.AppliedSizes()
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			if c.kept[m.Index] == 0 || !d.ours(i, m) {
				continue
			}
			kept := Derived{Container: i, Measure: m, To: *m.Of(&c.Current), Why: demandKept}
			switch {
			case d.boosted(i, m):
				kept.To, kept.Cause = d.asCreated(i), ByDemand
			case d.parts[i].of.Standings[m.Index].Claim == pod.Theirs && d.parts[i].standings[m.Index].Adopted == 0:
				// An override replaces what another actor set.
				sizes, _ := applied.Of(c.Name, i)
				kept.To, kept.Cause = *m.Of(&sizes.To), ByDemand
			}
			if kept.To != *m.Of(&c.Desired) {
				v.sets = append(v.sets, kept)
			}
		}
	}
	return v
}

// asCreated returns the cpu that a container that was boosted at its creation would have got without: what it needed then, on
// the node type that it was created for.
func (d *draft) asCreated(i int) sizing.Amount {
	m := sizing.CPU
	factor := d.factor(m)
	if entry, known := d.rule.profile.Lookup(d.applied); known {
		factor = entry.CPUFactor
	}
	size, _ := d.given(i, m).On(m, factor, d.guaranteed())
	if had := d.present(i, m); size.Request == had.Request {
		return had // A limit changes only with its request.
	}
	return size
}

// given returns the need from usage that a resource was sized by when its pod was created, if the pod keeps that; nil otherwise.
func (d *draft) given(i int, m *sizing.Measure) *need.Need {
	c, rules := &d.Containers[i], &need.Rules{}
	if c.kept[m.Index] == 0 {
		return nil
	}
	if d.rule.profile.Demand.CPU.Limit != "follow" {
		rules.Limits.CPU = need.Keep
	}
	n := c.Needs[m.Index]
	n.Recommended = &need.Recommendation{Target: c.kept[m.Index], Rules: rules}
	return &n
}

// keepsDemand reports whether the pod keeps the sizes that came from usage when it was created.
func (d *draft) keepsDemand() bool {
	return !d.FollowsUsage && d.Kind != Restore && d.rule.profile.Usage() == policy.Initial && d.of.HasAppliedDemand()
}

const (
	// nearEnough is why a size stays that need not change.
	nearEnough = "the size is near enough to the demand"
	// setLately is why a size stays that may change soon. A pod that started a short time ago has its size since then.
	setLately = "the size was set a short time ago, and may change later"
)

// Ignores returns why the size of a resource does not follow what usage shows, as far as the reasons of the plan do not say
// so; empty if it follows.
func (p *Plan) Ignores(container int, m *sizing.Measure) string {
	switch {
	case p.Kept(container, m) != 0:
		return demandKept
	case !p.FollowsUsage:
		return ""
	case p.Containers[container].Needs[m.Index].Withheld != "":
		if slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.Code == contract.HPAUtilization }) {
			return ""
		}
		return p.Containers[container].Needs[m.Index].Withheld
	case p.Containers[container].Unmeasured[m.Index]:
		return unknownNeed
	}
	for i := len(p.Derivation) - 1; i >= 0; i-- {
		if derived := &p.Derivation[i]; derived.Container == container && derived.Measure == m {
			if derived.Stage == stageSettle {
				return derived.Why
			}
			break
		}
	}
	return ""
}

// Kept returns what a resource needed according to usage, in units of the baseline, when it got the size that it keeps while
// the pod runs; 0 for all others.
func (p *Plan) Kept(container int, m *sizing.Measure) int64 {
	c := &p.Containers[container]
	switch c.Causes[m.Index] {
	case Unchanged, ByDemand, ByBoost:
		return c.kept[m.Index]
	}
	return 0
}

// Demand returns what a resource needs, in units of the baseline, and the requests outside of which its size is corrected
// immediately; these are 0 unless the demand comes from usage, as it is now.
func (p *Plan) Demand(container int, m *sizing.Measure) (request, lower, upper int64) {
	if kept := p.Kept(container, m); kept != 0 {
		return kept, 0, 0
	}
	n := &p.Containers[container].Needs[m.Index]
	if n.Recommended != nil {
		lower, upper = n.Tolerated(m, p.guaranteed())
	}
	return n.Request(m, p.guaranteed()), lower, upper
}

// meets returns the request that a resource needs according to usage, in units of the baseline, if that is what a size is
// scaled from; otherwise 0.
func (p *Plan) meets(c *ContainerPlan, m *sizing.Measure, size sizing.Amount) int64 {
	n := &c.Needs[m.Index]
	if f := p.factor(m); n.Recommended != nil && f.Den != 0 {
		if to, _ := n.On(m, f, p.guaranteed()); to.Request == size.Request {
			return n.Request(m, p.guaranteed())
		}
	}
	return 0
}

// Demands returns the needs from usage that the plan resizes the pod by, e.g. "app cpu 480m × 0.8"; empty if there are none.
func (p *Plan) Demands() string {
	var all []string
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			if c.Causes[m.Index] != ByDemand {
				continue
			}
			what, amount := m.Name, p.meets(c, m, *m.Of(&c.Desired))
			if has, to := m.Of(&c.Current), m.Of(&c.Desired); has.Request == to.Request {
				what, amount = p.limitFrom(c, m)
			}
			if amount != 0 {
				all = append(all, fmt.Sprintf("%s %s %s × %.4g", c.Name, what, inUnits(m, amount), p.factor(m).Float64()))
			}
		}
	}
	return joined(all, ", ")
}

// limitFrom returns what a limit follows that changes although the request stays: the highest usage, or else the need.
func (p *Plan) limitFrom(c *ContainerPlan, m *sizing.Measure) (what string, amount int64) {
	n := &c.Needs[m.Index]
	switch {
	case n.Recommended == nil:
		return "", 0
	case n.Recommended.Peak > 0:
		return m.Name + " of up to", n.Recommended.Peak
	}
	return m.Name, n.Request(m, p.guaranteed())
}

// inUnits returns an amount for people, in whole units, rounded up.
func inUnits(m *sizing.Measure, amount int64) string {
	return m.Text((amount + m.Unit - 1) / m.Unit * m.Unit)
}

// resizedAt fills in unknown times: the last resize noted when the amounts that it did not change had changed last. If that
// is not known, an amount may have been changed when the pod was resized last, or began. A new pod has not done
// any work yet with the size that it would lose.
func (d *draft) resizedAt(known need.Resized, i int, applied pod.AppliedSizes) need.Resized {
	last := d.of.ResizedAt()
	switch {
	case d.of.SizedAtCreation() && d.applied != d.NodeType:
		last = time.Time{} // The size is for another node type, where the pod has never run.
	case last.IsZero() && !d.Begins():
		last = d.of.StartedAt()
	}
	noted, _ := applied.Of(d.Containers[i].Name, i)
	for _, m := range sizing.Measures {
		at := &known[m.Index]
		if !at.IsZero() {
			continue
		}
		*at = last
		// A resize whose annotations were not written leaves the annotations of the one before.
		if since := noted.Since[m.Index]; !since.IsZero() && *m.Of(&noted.To) == *m.Of(&d.Containers[i].Current) {
			*at = since
		}
	}
	return known
}

// lastKill returns when a container was last killed for lack of memory, and how long it had run; zero if it was not.
func lastKill(of *pod.Pod, container string) (at time.Time, ran time.Duration) {
	for _, kill := range of.Kills() {
		if kill.Container == container && kill.At.After(at) {
			at, ran = kill.At, kill.Ran
		}
	}
	return at, ran
}

// causeOf returns why a resource changes if it gets what it needs.
func causeOf(n *need.Need) Cause {
	if n.Recommended != nil {
		return ByDemand
	}
	return ByRatio
}

// recommended reports whether the container needs something according to usage.
func (c *ContainerPlan) recommended() bool {
	return c.Needs[0].Recommended != nil || c.Needs[1].Recommended != nil
}

// guaranteed reports whether the pod is Guaranteed, so that its limits must equal its requests.
func (p *Plan) guaranteed() bool { return p.QOSClass == corev1.PodQOSGuaranteed }
