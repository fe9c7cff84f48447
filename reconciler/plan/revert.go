package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// proof is what the plan finds out about how the pod fares since its last resize.
type proof struct {
	// reverts are the resizes that made the pod worse, to record before they are reverted.
	reverts []pod.Revert
	// judgedAt is when it is clear whether the last resize made the pod worse; zero unless it may have.
	judgedAt time.Time
	// unmeasured is what is not known of how the pod fares; empty if it is known.
	unmeasured string
	// unannotatedSizes means that the annotation of the pod is not about its last resize.
	unannotatedSizes bool
}

// revert gives each resource whose resize made the pod worse its size before the resize, and keeps it there. If there
// is anything to revert, the plan does nothing else: the rest can wait. That a ratio is missing or not used does
// not matter, because that may be just so because it made pods worse.
func (p *Planner) revert(d *draft, s *Snapshot) *verdict {
	if s.NodeType != "" || s.Pod.ResizedAt().IsZero() || d.state == held && s.Around.Node == nil {
		return nil
	}
	settings := &d.rule.profile.Guard
	observed, unannotated := guard.Observed(s.Pod, settings.Window, s.Now), s.Pod.AppliedAt().Before(s.Pod.ResizedAt())
	if !observed && !unannotated && (!settings.Enabled || len(s.Pod.Reverts()) == 0) {
		return nil
	}
	if !settings.Enabled {
		// Nothing is reverted, but a process that was killed may have left the annotations of an earlier resize.
		found := &reversal{}
		found.compare(d, s, settings.Window, false)
		return found.keeps(d)
	}
	found := d.reversal(s, observed, true)
	if !found.reverting() {
		return found.keeps(d)
	}
	v := found.decide(d, s)
	if v.skip.Code == "" || !found.hurts() && !found.completes() || len(found.reverts) > 0 {
		return v
	}
	// The size before does not fit, perhaps for days. By now, a smaller one may be desired that fits. While only
	// requests do not fit, the pod is sized like all others.
	again := d.reversal(s, observed, false)
	switch {
	case !again.reverting():
		v = again.keeps(d)
	case found.hurts():
		return v
	default:
		w := again.decide(d, s)
		w.again = need.Sooner(w.again, v.again)
		return w
	}
	v.blocked = found.blocked(d, s)
	return v
}

// reversal is what must be reverted, and what stays because it was.
type reversal struct {
	proof
	// sets are the resources that are reverted or stay, and reasons say why.
	sets    []Derived
	reasons []Reason
	tested  []tested
	again   time.Time
}

func (c *reversal) reverting() bool {
	return c.hurts() || c.completes() || c.causes(ByNudge)
}

// hurts reports whether the pod still has a size that made it worse. Otherwise, the node only notices an earlier revert.
func (c *reversal) hurts() bool { return c.causes(ByRevert) }

// completes reports whether a request changes whose limit was reverted alone.
func (c *reversal) completes() bool { return c.causes(ByCompletion) }

func (c *reversal) causes(cause Cause) bool {
	return slices.ContainsFunc(c.sets, func(derived Derived) bool { return derived.Cause == cause })
}

// of returns the size of a resource that is reverted; nil if it is not.
func (c *reversal) of(container int, m *sizing.Measure) *Derived {
	for i := range c.sets {
		if derived := &c.sets[i]; derived.Container == container && derived.Measure == m && derived.Cause != Unchanged {
			return derived
		}
	}
	return nil
}

// keeps returns the verdict if there is nothing to revert.
func (c *reversal) keeps(d *draft) *verdict {
	v := &verdict{proof: &c.proof, tested: c.tested, again: c.again}
	if d.state&open != 0 {
		v.sets, v.reasons = c.sets, c.reasons
	}
	return v
}

// reversal finds what to revert. finishing means that reverts are finished that were recorded, but not made.
func (d *draft) reversal(s *Snapshot, observed, finishing bool) *reversal {
	settings := &d.rule.profile.Guard
	c := &reversal{}
	c.compare(d, s, settings.Window, observed)
	c.keepReverted(d, s, settings.Cooldown, finishing)
	of := &guard.Case{Pod: s.Pod, Node: s.Around.Node, Settings: settings, Now: s.Now, Signals: s.Signals}
	harms, again := guard.Judge(of)
	c.again, c.judgedAt = need.Sooner(c.again, again), again
	for i := range harms {
		c.revert(d, s, &harms[i])
	}
	if observed && !c.reverting() {
		c.unmeasured = guard.Unmeasured(of)
	}
	return c
}

// compare notes what the last resize changed, for the next annotation: sizes that have not proven
// themselves are annotated with the sizes before them again.
func (c *reversal) compare(d *draft, s *Snapshot, window time.Duration, observed bool) {
	applied, changes := s.Pod.AppliedSizes(), guard.Changes(s.Pod, window)
	c.tested = make([]tested, len(d.parts))
	for i := range d.parts {
		is := &c.tested[i]
		*is = d.parts[i].tested
		was, known := applied.Of(d.Containers[i].Name, i)
		for len(changes) > 0 && changes[0].Index <= int(d.Containers[i].index) { // Both are in the order of the pod.
			change := changes[0]
			if changes = changes[1:]; change.Index != int(d.Containers[i].index) {
				continue
			}
			unannotated := !known || *change.Measure.Of(&was.To) != change.To
			c.unannotatedSizes = c.unannotatedSizes || unannotated && known
			if observed || unannotated {
				is.unproven[change.Measure.Index] = change.From
				is.unboosts = is.unboosts || change.Unboosts
			}
			if observed && known && !unannotated {
				is.restarts = change.Restarts
			}
		}
	}
}

// keepReverted keeps the sizes that were reverted, or finishes a revert that the node has not made.
func (c *reversal) keepReverted(d *draft, s *Snapshot, cooldown time.Duration, finishing bool) {
	for _, r := range s.Pod.Reverts() {
		m, i := r.Measure, d.container(r.Container)
		if i < 0 || !d.ours(i, m) || d.parts[i].standings[m.Index].Adopted != 0 {
			continue // Another actor chose the size.
		}
		of := &d.Containers[i]
		current, desired, back := *m.Of(&of.Current), *m.Of(&of.Desired), d.believed(i, m, r.Back)
		why := asBefore(of.Name, m, current, back, r.Message, r.Harm)
		if finishing && current == r.Hurt && back != current {
			// It is not back yet. The size that is desired by now does not matter: sizing may wait, or be stopped.
			c.adds(Derived{Container: i, Measure: m, To: back, Cause: ByRevert, Why: why, Harm: &r.Harm})
			continue
		}
		until, forbidden := guard.Forbids(&r, desired, cooldown, s.Now)
		if !forbidden {
			continue
		}
		c.again = need.Sooner(c.again, until)
		// A larger desired size stays: some nodes must not lower memory limits.
		back.Request = max(back.Request, desired.Request)
		if desired.Limit != 0 {
			back.Limit = max(back.Limit, desired.Limit, back.Request)
		}
		limit, lowered := r.LimitBack()
		half := lowered && current == limit // There was no room for the request.
		if half && finishing && back != current {
			c.adds(Derived{Container: i, Measure: m, To: back, Cause: ByCompletion, Why: asBefore(of.Name, m, current, back, r.Message, r.Harm)})
			continue
		}
		got := back
		if half || lowered && current == pushed(limit, m) && desired.Limit <= limit.Limit {
			got = limit
		}
		if current == got && d.parts[i].of.Runs() && s.Pod.Lags(m) {
			c.push(i, m, of)
			continue
		}
		stays := fmt.Sprintf("container %s: %s stays %s instead of %s %s: %s (%s)", of.Name, m.Name,
			m.Show(back), m.Show(desired), whenRetried(until), r.Message, r.Harm)
		// A pushed size must become smaller again even if no pod may be sized now.
		if current == pushed(got, m) {
			c.adds(Derived{Container: i, Measure: m, To: got, Cause: ByNudge, Why: stays})
			continue
		}
		c.reasons = append(c.reasons, Reason{contract.Reverted, stays})
		c.sets = append(c.sets, Derived{Container: i, Measure: m, To: back, Why: stays})
	}
}

// push raises a reverted resource by one unit, since the pod as a whole did not get it back.
// The next plan lowers it again, once the node has applied that.
func (c *reversal) push(i int, m *sizing.Measure, of *ContainerPlan) {
	current := *m.Of(&of.Current)
	more := pushed(current, m)
	c.adds(Derived{Container: i, Measure: m, To: more, Cause: ByNudge, Why: fmt.Sprintf("container %s: %s %s → %s for a moment: the container did not run when its size was reverted, so its node still limits the pod to less",
		of.Name, m.Name, m.Show(current), m.Show(more))})
}

// adds gives a resource a size to revert its resize.
func (c *reversal) adds(derived Derived) {
	c.reasons = append(c.reasons, Reason{contract.Reverted, derived.Why})
	c.sets = append(c.sets, derived)
}

// revert reverts a resource that made the pod worse, if it can.
func (c *reversal) revert(d *draft, s *Snapshot, h *guard.Harm) {
	name, m := s.Pod.Containers[h.Index].Name(), h.Measure
	i := d.container(name)
	if i < 0 || c.of(i, m) != nil {
		return
	}
	current, back := *m.Of(&d.Containers[i].Current), d.believed(i, m, h.Back())
	if back == current {
		return
	}
	times := 1
	if before := revertOf(s.Pod.Reverts(), name, m); before != nil {
		times = before.Times + 1
	}
	c.reverts = append(c.reverts, pod.Revert{Container: name, Measure: m, Hurt: current, Back: back, Times: times, Harm: h.Kind, Message: h.Message})
	c.adds(Derived{Container: i, Measure: m, To: back, Cause: ByRevert, Why: asBefore(name, m, current, back, h.Message, h.Kind), Harm: &h.Kind})
}

// believed returns a recorded size that a container may have had, or else a larger original, or
// else the current size.
func (d *draft) believed(i int, m *sizing.Measure, back sizing.Amount) sizing.Amount {
	c := &d.Containers[i]
	original, current := *m.Of(&c.Original), *m.Of(&c.Current)
	switch {
	case d.credible(i, m, current, back):
		return back
	case original.Request >= current.Request && original.Limit >= current.Limit:
		return original
	}
	return current
}

// revertOf returns the revert of a resource; nil if there is none.
func revertOf(reverts []pod.Revert, container string, m *sizing.Measure) *pod.Revert {
	for i := range reverts {
		if r := &reverts[i]; r.Container == container && r.Measure == m {
			return r
		}
	}
	return nil
}

// pushed returns what a size is raised to for a moment.
func pushed(size sizing.Amount, m *sizing.Measure) sizing.Amount {
	more := sizing.Amount{Request: size.Request, Limit: size.Limit + m.Unit}
	if size.Request == size.Limit {
		more.Request = more.Limit // The QoS class stays the same.
	}
	return more
}

// whenRetried says until when a size stays.
func whenRetried(until time.Time) string {
	if until.IsZero() {
		return "until its desired size changes"
	}
	return "until " + until.UTC().Format(time.RFC3339)
}

// asBefore says that a resource of a container gets its size before the resize, and why.
func asBefore(container string, m *sizing.Measure, has, back sizing.Amount, why string, harm contract.Harm) string {
	return fmt.Sprintf("container %s: %s %s → %s as before the resize: %s (%s)", container, m.Name, m.Show(has), m.Show(back), why, harm)
}
