package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// boostTo is the boosted cpu that a container should have.
type boostTo struct {
	container int
	to        sizing.Amount
}

// boost raises the cpu of containers while their pod starts, and ends that later.
//
// Only a pod that was never resized since its creation gets a boost, and the record of its last resize says that it has one.
// So each pod gets one at most: nothing brings it back, however often the pod becomes unready. While it lasts, it stays as it
// is, unless more is needed.
func (p *Planner) boost(d *draft, s *Snapshot) *verdict {
	settings := &d.rule.profile.Startup
	if !settings.Boosts() && !d.of.HasBoost() { // Most pods have none.
		return nil
	}
	starts, until := d.starts(s)
	if d.state == held {
		return d.endsHeld(s, starts, until)
	}
	may := starts && (!d.sized || s.Pod.SizedAtCreation())
	v := d.says()
	for i := range d.Containers {
		c, of, m := &d.Containers[i], &d.parts[i], sizing.CPU
		standing, settled := of.standings[m.Index], c.Desired.CPU
		if !of.boosted && !may || !standing.Ours() || standing.Adopted|of.of.Returned() != 0 || c.Current.CPU.Request == 0 {
			continue
		}
		to, clamped, needs := settled, false, &c.Needs[m.Index]
		if given := d.given(i, m); given != nil {
			needs = given
		}
		if starts {
			if d.guaranteed() && settings.CPULimit.Of(settled.Limit, m.Most) > settings.CPU.Of(settled.Limit, m.Most) {
				v.because(contract.StartupBoost, fmt.Sprintf("container %s: its limit for cpu is not raised above its request, because the pod is Guaranteed", c.Name))
			}
			to, clamped = needs.Boosted(m, settings.CPU, settings.CPULimit, settled, d.factor(m), d.guaranteed())
			to = settle(standing, m, settled, to)
			most := needs.Bounds.Max
			if has := c.Current.CPU; of.boosted && !guard.Lowers(settled, has) && (most == 0 || has.Request <= most) {
				to = has
			}
		}
		derived := Derived{Container: i, Measure: m, To: to, Cause: ByBoost, Clamped: clamped, Why: fmt.Sprintf(whileStarting, until.UTC().Format(time.RFC3339))}
		switch {
		case to == settled && !of.boosted, d.getsDemandOnce() && to == c.Current.CPU:
			continue // Without a change, no record would say what it gets after its boost.
		case to == settled:
			derived.Why = noLonger
		case of.of.Restarts(m):
			v.because(contract.RestartRequired, fmt.Sprintf("container %s: cpu is not boosted because its resizePolicy is RestartContainer", c.Name))
			continue
		default:
			v.boosts = append(v.boosts, boostTo{i, to})
		}
		v.sets = append(v.sets, derived)
	}
	if len(v.sets) > 0 && starts {
		v.again = until
	}
	return v
}

// endsHeld ends the boosts of a pod whose ratio is missing or not used: nobody knows what it needs, so it gets the size before
// the boost. Until then, it stays as it is.
func (d *draft) endsHeld(s *Snapshot, starts bool, until time.Time) *verdict {
	v := d.says()
	if starts {
		v.again = until
		return v
	}
	for i := range d.Containers {
		if m := sizing.CPU; d.boosted(i, m) && s.Around.Node != nil {
			v.sets = append(v.sets, Derived{Container: i, Measure: m, To: d.present(i, m), Cause: ByBoost, Why: noLonger})
		}
	}
	if len(v.sets) > 0 {
		v.next, v.partial = aligned, d.Reasons[0].Code
	}
	return v
}

const (
	whileStarting = "cpu is boosted until its pod has started, and until %s at most"
	noLonger      = "cpu is no longer boosted"
)

// starts reports whether the pod starts, so that its cpu may be boosted, and until when at the latest.
func (d *draft) starts(s *Snapshot) (starts bool, until time.Time) {
	settings := &d.rule.profile.Startup
	if !settings.Boosts() || s.Now.IsZero() || s.InTheEnd || s.Unboosted || s.imagines() {
		return false, until
	}
	until = s.Pod.StartedAt().Add(settings.AtMost)
	if ready, since := s.Pod.Ready(); ready && since.Add(settings.AfterReady).Before(until) {
		until = since.Add(settings.AfterReady)
	}
	// The clock of a node may be wrong.
	return s.Now.Before(until) && until.Sub(s.Now) <= 2*settings.AtMost, until
}

// findBoosts finds the containers whose present cpu is boosted. Until that has ended, the size before counts as the one
// before the last resize: what hurts is no reason to bring the boost back.
func (d *draft) findBoosts() {
	recorded, unrecorded := d.of.HasBoost(), d.mayLackBoost()
	if !recorded && !unrecorded {
		return
	}
	applied := d.of.AppliedSizes()
	for i := range d.Containers {
		c, of, m := &d.Containers[i], &d.parts[i], sizing.CPU
		was, known := applied.Of(c.Name, i)
		current := known && was.To.CPU == c.Current.CPU
		if !d.ours(i, m) || c.Current.CPU.Request == 0 {
			continue
		}
		before := c.Original.CPU
		switch {
		case current && was.Boost == pod.Boosted:
			of.boosted, before = true, was.From.CPU
		case !current && unrecorded:
			of.boosted = of.of.Resized() && revertOf(d.of.Reverts(), c.Name, m) == nil
		}
		if of.boosted {
			of.unproven[m.Index] = d.believed(i, m, before)
		}
	}
}

// mayLackBoost reports whether the last resize of the pod was not recorded, as when a process ends, although it was made at a
// time at which cpu is boosted.
func (d *draft) mayLackBoost() bool {
	settings, at := &d.rule.profile.Startup, d.of.ResizedAt()
	return settings.Boosts() && d.of.AppliedAt().Before(at) && !d.of.SizedAtCreation() && !at.After(d.of.StartedAt().Add(settings.AtMost))
}

// unboosted returns the cpu that containers that are not boosted yet get without the boosts that they want. Nothing is lowered
// while a pod starts, unless it is being created.
func (d *draft) unboosted() (sets []Derived) {
	for i := range d.Containers {
		c, of := &d.Containers[i], &d.parts[i]
		if of.boosted || of.boost == (sizing.Amount{}) || c.Desired.CPU != of.boost {
			continue
		}
		to := Derived{Container: i, Measure: sizing.CPU, To: c.Current.CPU}
		if derived := d.beforeBoost(i); d.creating || !guard.Lowers(c.Current.CPU, derived.To) {
			to.To, to.Cause = derived.To, derived.Cause
		}
		sets = append(sets, to)
	}
	return sets
}

// beforeBoost returns the cpu that a container would get without the boost that it gets, and why.
func (d *draft) beforeBoost(i int) Derived {
	for _, derived := range slices.Backward(d.Derivation) {
		if derived.Container == i && derived.Measure == sizing.CPU && derived.Cause != ByBoost {
			return derived
		}
	}
	return Derived{Container: i, Measure: sizing.CPU, To: d.Containers[i].Current.CPU}
}

// getsDemandOnce reports whether the pod is being created with the sizes that usage shows, and keeps these while it runs.
func (d *draft) getsDemandOnce() bool { return d.creating && d.rule.profile.Usage() == policy.Initial }

// keepsAuthored reports whether the pod is being created with what its author wrote because usage shows just that, and keeps it
// while it runs. If that were not recorded, it would be scaled for the node where it lands.
func (d *draft) keepsAuthored() bool {
	if !d.getsDemandOnce() {
		return false
	}
	for i := range d.Containers {
		c := &d.Containers[i]
		if d.meets(c, sizing.CPU, c.Desired.CPU) != 0 || d.meets(c, sizing.Memory, c.Desired.Memory) != 0 {
			return true
		}
	}
	return false
}

// hidesDemand reports whether a boost hides that the pod gets the cpu that usage shows, and keeps it while it runs. Only its
// creation decides whether it is one of those that try that size.
func (d *draft) hidesDemand(i int, m *sizing.Measure) bool {
	return m == sizing.CPU && d.getsDemandOnce() && d.parts[i].boost != (sizing.Amount{}) && d.beforeBoost(i).Cause == ByDemand
}

// hides reports whether a boost hides the demand of any container.
func (d *draft) hides() bool {
	for i := range d.Containers {
		if d.hidesDemand(i, sizing.CPU) {
			return true
		}
	}
	return false
}

// boosted reports whether the present size of a resource is a boosted one.
func (d *draft) boosted(i int, m *sizing.Measure) bool { return m == sizing.CPU && d.parts[i].boosted }

// present returns the size that a resource has, or that it had before it was boosted: usually what its author wrote.
func (d *draft) present(i int, m *sizing.Measure) sizing.Amount {
	if d.boosted(i, m) {
		return d.parts[i].unproven[m.Index]
	}
	return *m.Of(&d.Containers[i].Current)
}

// causeOf returns why a resource changes if it gets what it needs.
func (d *draft) causeOf(i int, m *sizing.Measure) Cause {
	if d.boosted(i, m) {
		return ByBoost
	}
	return causeOf(&d.Containers[i].Needs[m.Index])
}

// withoutBoost returns the cpu that a container whose size follows usage would have by now if it had never been boosted. It is
// sized from what its author wrote, and exactly if its pod was sized while it was being created.
func (d *draft) withoutBoost(i int, s *Snapshot, now need.State) sizing.Amount {
	now.Creating = s.Pod.SizedAtCreation()
	now.Size, now.Unsized, now.Resized = d.Containers[i].Original, [2]bool{true, true}, need.Resized{}
	now.Size.CPU = d.present(i, sizing.CPU)
	return now.Settle().Size.CPU
}

// boostIn returns what to record of the boost of a container that gets this cpu.
func (of *part) boostIn(cpu sizing.Amount) pod.Boost {
	switch {
	case of.boost != (sizing.Amount{}) && cpu == of.boost:
		return pod.Boosted
	case of.boosted || of.unboosts:
		return pod.BoostEnded
	}
	return pod.NoBoost
}

// endsBoosts returns the verdict of a stage that stops all changes to a pod except for the end of a boost; nil if none ends.
func (d *draft) endsBoosts(code contract.Reason, message string) *verdict {
	v, ends := d.says(), false
	for i := range d.Containers {
		for _, m := range sizing.Measures {
			has, to := *m.Of(&d.Containers[i].Current), *m.Of(&d.Containers[i].Desired)
			switch {
			case has == to:
			case d.boosted(i, m) && guard.Lowers(has, to):
				ends = true
			default:
				v.sets = append(v.sets, Derived{Container: i, Measure: m, To: has})
			}
		}
	}
	if !ends {
		v.sets = nil
		return nil
	}
	if len(v.sets) > 0 {
		then := d.fork()
		then.set("", v.sets)
		v.because(code, message)
		v.vetoed, v.partial = true, code
		v.without = then.unlike(func(i int) *sizing.Container { return &d.Containers[i].Desired })
	}
	return v
}

// Boosts reports whether the plan raises cpu because containers start.
func (p *Plan) Boosts() bool { return p.causedBy(ByBoost) && p.grows() }

// boosts says what the plan has to do with the boosts of containers that start or have started; empty if nothing.
func (p *Plan) boosts() string {
	var all []string
	for i := range p.Derivation {
		c := &p.Containers[p.Derivation[i].Container]
		if derived := &p.Derivation[i]; derived.Cause == ByBoost && derived.Why != "" && derived.To == c.Desired.CPU {
			all = append(all, c.Name+": "+derived.Why)
		}
	}
	return joined(all, "; ")
}

// hasBoostByChance reports whether the size that a container has is the boosted one, although nobody set it: it does not have the
// size for the node type yet.
func (d *draft) hasBoostByChance() bool {
	return slices.ContainsFunc(d.parts, func(of part) bool { return !of.boosted && of.boost != (sizing.Amount{}) })
}

// forgetsBoost reports whether the record of the pod calls a size boosted that it needs now, or no longer has: the process may
// have ended before it recorded that. The record of its creation stays until it is resized.
func (d *draft) forgetsBoost() bool {
	if d.of.SizedAtCreation() || !d.of.HasBoost() && !d.mayLackBoost() {
		return false
	}
	applied := d.of.AppliedSizes()
	for i := range d.parts {
		of := &d.parts[i]
		was, _ := applied.Of(d.Containers[i].Name, i)
		if of.boosted && of.boost == (sizing.Amount{}) || !of.boosted && was.Boost == pod.Boosted {
			return true
		}
	}
	return false
}
