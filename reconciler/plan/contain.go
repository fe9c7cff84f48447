package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// contain gives each resource whose resize made the pod worse its size before the resize, and
// keeps it there.
func (p *Plan) contain(s *Snapshot, profile *ratios.Profile, bounds policy.Bounds) {
	of := s.Pod
	if s.NodeType != "" || of.ResizedAt().IsZero() {
		return
	}
	settings := &profile.Guard
	observed, unrecorded := guard.Observed(of, settings.Window, s.Now), of.AppliedAt().Before(of.ResizedAt())
	if settings.Enabled && (observed || unrecorded || len(of.Reverts()) > 0) {
		p.containIn(s, settings, observed, bounds)
	}
}

// containIn is contain for a pod that is observed, or that has reverts. If there is something to
// revert, the plan does nothing else: the rest can wait.
func (p *Plan) containIn(s *Snapshot, settings *policy.Guard, observed bool, bounds policy.Bounds) {
	p.compare(s.Pod, settings.Window, observed)
	reverts := p.keepReverted(s, settings.Cooldown, bounds)
	of := &guard.Case{Pod: s.Pod, Node: s.Around.Node, Settings: settings, Now: s.Now, Signals: s.Signals}
	harms, again := guard.Judge(of)
	p.replanAt(again)
	p.judgedAt = again
	for i := range harms {
		reverts = p.revert(s.Pod, &harms[i], bounds) || reverts
	}
	if !reverts {
		if observed {
			p.unmeasured = guard.Unmeasured(of)
		}
		return
	}
	p.Kind = Revert
	only := p.Reasons[:0]
	for _, reason := range p.Reasons {
		if reason.Code == contract.Reverted {
			only = append(only, reason)
		}
	}
	p.Reasons = only
	code, takenBack := s.progress().code, false
	unmade := code == contract.ResizeDeferred || code == contract.ResizeInfeasible
	for i := range p.Containers {
		c := &p.Containers[i]
		allocated := c.of.Allocated()
		for _, r := range sizing.Measures {
			if c.reverting[r.Index] {
				continue
			}
			has, back := *r.Of(&c.Current), *r.Of(&allocated)
			*r.Of(&c.Desired), c.clamped[r.Index] = has, false
			// A node makes all of a resize or nothing: what it has not made would keep it from reverting.
			if unmade && c.standings[r.Index].Ours() && grows(back, has) && credible(*r.Of(&c.Original), has, back, boundsOf(bounds, r), r.Scale) {
				*r.Of(&c.Desired), takenBack = back, true
			}
		}
	}
	if p.undoes || takenBack {
		p.recount(s.Pod) // A revert may have been blocked for long, while the container failed again and again.
	}
}

// awaitsReadiness skips a pod that may yet show that its last resize made it worse, and reports whether it does.
// After another resize, it would look as if the pod had not been ready before.
func (p *Plan) awaitsReadiness(s *Snapshot) bool {
	if p.judgedAt.IsZero() || s.InTheEnd || p.Kind != Sizes || !p.differs() {
		return false
	}
	p.Skip(&safety.Veto{Reason: contract.AwaitingReadiness, Message: fmt.Sprintf("the pod became unready after its last resize at %s, which is reverted at %s unless the pod is ready by then",
		s.Pod.ResizedAt().UTC().Format(time.RFC3339), p.judgedAt.UTC().Format(time.RFC3339))})
	return true
}

// revertOr returns a plan that reverts what made the pod worse, or else the plan that skips the pod: a
// ratio may be gone, or no longer plausible, just because it made pods worse.
func (p *Planner) revertOr(skips *Plan, s *Snapshot, profile *ratios.Profile) *Plan {
	if s.Around.Node == nil || s.Pod.ResizedAt().IsZero() {
		return skips
	}
	plan, _ := p.begin(s)
	plan.finishes = skips.finishes
	plan.fillOriginals(s.Pod)
	plan.contain(s, profile, profile.Bounds)
	if plan.Kind != Revert {
		skips.replanAt(plan.ReplanAt)
		return skips
	}
	plan.decideRevert(s, s.progress())
	return plan
}

// compare notes what the last resize changed, for the next record: sizes that have not proven
// themselves are recorded with the sizes before them again.
func (p *Plan) compare(of *pod.Pod, window time.Duration, observed bool) {
	record := of.Record()
	changes := guard.Changes(of, window)
	for i := range p.Containers {
		c := &p.Containers[i]
		recorded, known := record.Of(c.Name)
		for k := range changes {
			change := &changes[k]
			if change.Index != c.index {
				continue
			}
			unrecorded := !known || *change.Measure.Of(&recorded.To) != change.To
			p.unrecordedSizes = p.unrecordedSizes || unrecorded && known
			if observed || unrecorded {
				c.unproven[change.Measure.Index] = change.From
			}
			if observed && known && !unrecorded {
				c.restarts = change.Restarts
			}
		}
	}
}

// keepReverted keeps the sizes that were reverted, and reports whether one of them is not back
// yet.
func (p *Plan) keepReverted(s *Snapshot, cooldown time.Duration, bounds policy.Bounds) (reverts bool) {
	for _, r := range s.Pod.Reverts() {
		c := p.container(r.Container)
		if c == nil || !c.standings[r.Measure.Index].Ours() || c.standings[r.Measure.Index].Adopted != 0 {
			continue // Another actor chose the size.
		}
		current, desired := *r.Measure.Of(&c.Current), r.Measure.Of(&c.Desired)
		if back := p.believed(c, r.Measure, r.Back, bounds); p.finishes && current == r.Hurt && back != current {
			// It is not back yet. The size that is desired by now does not matter: sizing may wait, or be stopped.
			p.undo(c, r.Measure, back, asBefore(c.Name, r.Measure, current, back, r.Message, r.Harm))
			p.undoes, reverts = true, true
			continue
		}
		until, forbidden := guard.Forbids(&r, *desired, cooldown, s.Now)
		if !forbidden {
			continue
		}
		p.replanAt(until)
		back := p.believed(c, r.Measure, r.Back, bounds)
		// A larger desired size stays: some nodes must not lower memory limits.
		back.Request = max(back.Request, desired.Request)
		if desired.Limit != 0 {
			back.Limit = max(back.Limit, desired.Limit, back.Request)
		}
		limit, lowered := r.LimitBack()
		half := lowered && current == limit // There was no room for the request.
		if half && p.finishes && back != current {
			p.undo(c, r.Measure, back, asBefore(c.Name, r.Measure, current, back, r.Message, r.Harm))
			p.completes, reverts = true, true
			continue
		}
		got := back
		if half || lowered && current == pushed(limit, r.Measure) && desired.Limit <= limit.Limit {
			got = limit
		}
		if current == got && c.of.Runs() && s.Pod.Lags(r.Measure) {
			p.push(c, r.Measure)
			reverts = true
			continue
		}
		stays := fmt.Sprintf("container %s: %s stays %s instead of %s %s: %s (%s)", c.Name, r.Measure.Name,
			r.Measure.Show(back), r.Measure.Show(*desired), whenRetried(until), r.Message, r.Harm)
		// A pushed size must become smaller again even if no pod may be sized now.
		if current == pushed(got, r.Measure) {
			p.undo(c, r.Measure, got, stays)
			reverts = true
			continue
		}
		p.because(contract.Reverted, stays)
		*desired, c.clamped[r.Measure.Index] = back, false
	}
	return reverts
}

// push raises a reverted resource by one unit, since the pod as a whole did not get it back.
// The next plan lowers it again, once the node has applied that.
func (p *Plan) push(c *ContainerPlan, m *sizing.Measure) {
	current := *m.Of(&c.Current)
	more := pushed(current, m)
	p.undo(c, m, more, fmt.Sprintf("container %s: %s %s → %s for a moment: the container did not run when its size was reverted, so its node still limits the pod to less",
		c.Name, m.Name, m.Show(current), m.Show(more)))
}

// undo gives a resource a size to revert its resize. why is the reason.
func (p *Plan) undo(c *ContainerPlan, m *sizing.Measure, to sizing.Amount, why string) {
	p.because(contract.Reverted, why)
	*m.Of(&c.Desired), c.clamped[m.Index], c.reverting[m.Index], c.why[m.Index] = to, false, true, why
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

// revert reverts a resource that made the pod worse, and reports whether it can.
func (p *Plan) revert(of *pod.Pod, h *guard.Harm, bounds policy.Bounds) bool {
	name, m := of.Containers[h.Index].Name(), h.Measure
	c := p.container(name)
	if c == nil || c.reverting[m.Index] {
		return false
	}
	current := *m.Of(&c.Current)
	back := p.believed(c, m, h.Back(), bounds)
	if back == current {
		return false
	}
	times := 1
	if before := p.revertOf(name, m); before != nil {
		times = before.Times + 1
	}
	p.reverts = append(p.reverts, pod.Revert{Container: name, Measure: m, Hurt: current, Back: back, Times: times, Harm: h.Kind, Message: h.Message})
	p.undo(c, m, back, asBefore(name, m, current, back, h.Message, h.Kind))
	p.undoes = true
	return true
}

// asBefore says that a resource of a container gets its size before the resize, and why.
func asBefore(container string, m *sizing.Measure, has, back sizing.Amount, why string, harm contract.Harm) string {
	return fmt.Sprintf("container %s: %s %s → %s as before the resize: %s (%s)", container, m.Name, m.Show(has), m.Show(back), why, harm)
}

// recount notes the record of the pod with the restarts until now, which must not count against what
// the resize lowered besides what is reverted, and without what the node has not made.
func (p *Plan) recount(of *pod.Pod) {
	record := of.Record()
	for i := range record {
		c := p.container(record[i].Name)
		if c == nil {
			continue
		}
		if p.undoes && (c.reverting[sizing.CPU.Index] || c.reverting[sizing.Memory.Index]) {
			record[i].Restarts = c.of.RestartCount()
		}
		for _, r := range sizing.Measures {
			if to := *r.Of(&c.Desired); !c.reverting[r.Index] && to != *r.Of(&c.Current) {
				*r.Of(&record[i].To) = to
			}
		}
	}
	if text := record.String(); text != of.Record().String() {
		p.recounted = text
	}
}

// believed returns a recorded size that a container may have had, or else a larger original, or
// else the current size.
func (p *Plan) believed(c *ContainerPlan, m *sizing.Measure, back sizing.Amount, bounds policy.Bounds) sizing.Amount {
	original, current := *m.Of(&c.Original), *m.Of(&c.Current)
	switch {
	case credible(original, current, back, boundsOf(bounds, m), m.Scale):
		return back
	case original.Request >= current.Request && original.Limit >= current.Limit:
		return original
	}
	return current
}

// container returns the plan of a container; nil if the container cannot be resized.
func (p *Plan) container(name string) *ContainerPlan {
	for i := range p.Containers {
		if p.Containers[i].Name == name {
			return &p.Containers[i]
		}
	}
	return nil
}

// replanAt plans the pod again at a time, unless the time is zero or the pod is planned again earlier.
func (p *Plan) replanAt(at time.Time) {
	if !at.IsZero() && (p.ReplanAt.IsZero() || at.Before(p.ReplanAt)) {
		p.ReplanAt = at
	}
}

// revertOf returns the last revert of a resource; nil if there is none.
func (p *Plan) revertOf(container string, m *sizing.Measure) *pod.Revert {
	for _, all := range [...][]pod.Revert{p.reverts, p.earlier} {
		for i := range all {
			if r := &all[i]; r.Container == container && r.Measure == m {
				return r
			}
		}
	}
	return nil
}

// reverted returns the annotations that record why sizes are reverted, and of what resize; empty if
// they need not be written.
func (p *Plan) reverted(now time.Time) map[string]*string {
	annotations := map[string]*string{}
	if p.recounted != "" {
		annotations[contract.AppliedSizes] = &p.recounted
	}
	if len(p.reverts) == 0 {
		return annotations
	}
	var all []pod.Revert
	for _, before := range p.earlier {
		again := false
		for i := range p.reverts {
			again = again || p.reverts[i].Container == before.Container && p.reverts[i].Measure == before.Measure
		}
		if !again {
			all = append(all, before)
		}
	}
	for _, r := range p.reverts {
		r.At = now
		all = append(all, r)
	}
	text := pod.RevertsText(all)
	annotations[contract.Reverts] = &text
	return annotations
}

// recordSizes adds the annotation that records what the plan changes, if it or an earlier plan
// resized the pod.
func (p *Plan) recordSizes(annotations map[string]*string) {
	if p.Decision != Resize && !p.sized {
		return
	}
	text := p.sizesRecord(current).String()
	if text == p.theirRecord {
		text = strings.Replace(text, " ", " 0", 1) // A zero before the restarts, to become the owner.
	}
	annotations[contract.AppliedSizes] = &text
}

// sizesRecord returns the record of what the plan changes. from returns the size before it of a
// container whose last resize has proven itself.
func (p *Plan) sizesRecord(from func(*ContainerPlan) *sizing.Container) pod.Record {
	record := make(pod.Record, len(p.Containers))
	for i := range p.Containers {
		c := &p.Containers[i]
		record[i] = pod.RecordedContainer{Name: c.Name, Restarts: c.restarts, From: *from(c), To: c.Desired}
		for _, r := range sizing.Measures {
			if unproven := c.unproven[r.Index]; unproven != (sizing.Amount{}) {
				*r.Of(&record[i].From) = unproven
			}
		}
	}
	return record
}
