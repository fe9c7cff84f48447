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

// blockedFor is how long a blocked revert, or a part that waits for a budget, waits at most: the obstacle may end without
// notice.
const blockedFor = time.Minute

// decide returns the verdict on reverts: they are made as far as there is room for them.
func (c *reversal) decide(d *draft, s *Snapshot) *verdict {
	v := &verdict{kind: Revert, next: decided, decision: Resize, alone: true, proof: &c.proof, tested: c.tested, again: c.again, sets: c.rest(d)}
	if d.state&open != 0 && s.Around.Infeasible != nil {
		v.again = need.Sooner(v.again, s.InfeasibleUntil)
	}
	for _, r := range c.reasons {
		if r.Code == contract.Reverted {
			v.reasons = append(v.reasons, r)
		}
	}
	full := d.fork()
	full.Kind = Revert
	full.set("", v.sets)
	if c.hurts() || full.causedAny(ByNode) {
		v.recounted = c.recount(full, s.Pod) // A revert may have been blocked for long, while the container failed again and again.
	}
	urgent := c.hurts() || !c.completes()
	part, veto := full.agree(s, urgent)
	if veto == nil && part == nil {
		return v
	}
	if veto == nil {
		v.vetoed = true
		if texts := c.textsOf(part.draft); len(texts) > 0 {
			v.sets = append(v.sets, part.left...)
			v.partial, v.without = part.reason.Code, part.without
			v.reasons = []Reason{{contract.Reverted, joined(texts, "; ")}, part.reason}
			return v
		}
		// Otherwise, the plan would only revert what the node has not made.
		veto, _ = full.objection(s, urgent)
	}
	if limits, texts := c.limits(full, s, veto.Message, urgent); len(texts) > 0 {
		v.sets = append(v.sets, limits...)
		v.reasons = []Reason{{contract.Reverted, joined(texts, "; ")}}
		return v
	}
	v.skip = Reason{contract.RevertBlocked, veto.Message + "; not reverted: " + merged(v.reasons).Message}
	v.reasons, v.alone, v.vetoed, v.decision, v.blockedBy = nil, false, true, Skip, veto.Reason
	v.again = need.Sooner(v.again, s.Now.Add(blockedFor))
	if len(c.reverts) > 0 {
		v.decision = Align // The findings are recorded anyway.
	}
	return v
}

// Lack is what a node has no room for.
type Lack struct {
	// Reason is ResizeDeferred, ResizeInfeasible or NodeCapacity.
	Reason
	// Memory has the containers that need more memory than they have.
	Memory []string
}

// Lacks returns what the node of a pod has no room for although the pod needs it; false if there is nothing. A pod does not need
// what it would only get while it starts.
func (p *Plan) Lacks(of *pod.Pod) (l Lack, lacks bool) {
	if of.HasBoost() {
		return l, false
	}
	for _, r := range p.Reasons {
		code := r.Code
		if code == contract.RevertBlocked {
			code = p.blockedBy
		}
		switch code {
		case contract.ResizeDeferred, contract.ResizeInfeasible, contract.NodeCapacity:
			l.Reason = Reason{code, r.Message}
			l.Memory = p.missing(of, sizing.Memory)
			return l, len(l.Memory)+len(p.missing(of, sizing.CPU)) > 0
		}
	}
	return l, false
}

// missing returns the containers that request less of a resource, or for which their node has set aside less, than they need.
func (p *Plan) missing(of *pod.Pod, m *sizing.Measure) (containers []string) {
	for i := range p.Derivation {
		derived := &p.Derivation[i]
		if derived.Measure == m && derived.Cause != ByBoost && derived.To.Request > m.Of(&p.Containers[derived.Container].Current).Request {
			containers = append(containers, p.Containers[derived.Container].Name)
		}
	}
	for i := range of.Containers {
		c := &of.Containers[i]
		if allocated := c.Allocated(); m.Of(&c.Spec).Request > m.Of(&allocated).Request {
			containers = append(containers, c.Name())
		}
	}
	return containers
}

// rest returns the sizes of all resources: the former size of those that are reverted, and the present size of all
// others. A node makes all of a resize or nothing. So a part of the last resize that it has not made is reverted, too:
// it would prevent the revert.
func (c *reversal) rest(d *draft) []Derived {
	var all []Derived
	code := d.now.code
	unmade := code == contract.ResizeDeferred || code == contract.ResizeInfeasible
	for i := range d.Containers {
		of := &d.Containers[i]
		allocated := d.parts[i].of.Allocated()
		for _, m := range sizing.Measures {
			if derived := c.of(i, m); derived != nil {
				all = append(all, *derived)
				continue
			}
			has, back := *m.Of(&of.Current), *m.Of(&allocated)
			derived := Derived{Container: i, Measure: m, To: has}
			if unmade && d.ours(i, m) && grows(back, has) && d.credible(i, m, has, back) {
				derived.To, derived.Cause = back, ByNode
			}
			all = append(all, derived)
		}
	}
	return all
}

// causedAny reports whether a size derived so far has the cause.
func (d *draft) causedAny(cause Cause) bool {
	return slices.ContainsFunc(d.Derivation, func(derived Derived) bool { return derived.Cause == cause })
}

// textsOf says what a draft with a part of the reverts reverts.
func (c *reversal) textsOf(d *draft) (texts []string) {
	for i := range d.Containers {
		for _, m := range sizing.Measures {
			of := &d.Containers[i]
			if derived := c.of(i, m); derived != nil && *m.Of(&of.Desired) != *m.Of(&of.Current) {
				texts = append(texts, derived.Why)
			}
		}
	}
	return texts
}

// limits reverts only the limits that made the pod worse, which needs no room on its node, and says so; there are no
// texts if there are none. Later plans complete the revert.
func (c *reversal) limits(full *draft, s *Snapshot, veto string, urgent bool) (sets []Derived, texts []string) {
	for i := range full.Containers {
		of := &full.Containers[i]
		for _, m := range sizing.Measures {
			derived := c.of(i, m)
			if derived == nil {
				continue // It stays, or the node gets what it has not made of it.
			}
			has, back := *m.Of(&of.Current), derived.To
			r := revertOf(c.reverts, of.Name, m)
			if r == nil {
				r = revertOf(s.Pod.Reverts(), of.Name, m)
			}
			only := *derived
			switch {
			case r == nil || has != r.Hurt:
				only.To = has
			case back.Request <= has.Request:
				texts = append(texts, asBefore(of.Name, m, has, back, r.Message, r.Harm))
			case guard.ByLimit(r.Harm) && back.Limit > has.Limit:
				only.To.Request = has.Request
				texts = append(texts, fmt.Sprintf("container %s: %s %s → %s, only the limit as before the resize (%s): %s (%s); the request stays: %s",
					of.Name, m.Name, m.Show(has), m.Show(only.To), m.Show(back), r.Message, r.Harm, veto))
			default:
				only.To = has
			}
			sets = append(sets, only)
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	then := full.fork()
	then.set("", sets)
	if still, _ := then.objection(s, urgent); still != nil {
		return nil, nil
	}
	return sets, texts
}

// recount returns the applied sizes of the pod with the restarts until now, which must not count against what
// the resize lowered besides what is reverted, and without what the node has not made; empty if it is the same.
func (c *reversal) recount(full *draft, of *pod.Pod) string {
	applied := of.AppliedSizes()
	for k := range applied {
		i := full.container(applied[k].Name)
		if i < 0 {
			continue
		}
		is := &full.Containers[i]
		if c.hurts() && (c.of(i, sizing.CPU) != nil || c.of(i, sizing.Memory) != nil) {
			applied[k].Restarts = full.parts[i].of.RestartCount()
		}
		for _, m := range sizing.Measures {
			if to := *m.Of(&is.Desired); c.of(i, m) == nil && to != *m.Of(&is.Current) {
				*m.Of(&applied[k].To) = to
				applied[k].Boost = full.parts[i].boostIn(is.Desired.CPU)
			}
		}
	}
	if text := applied.String(); text != of.AppliedSizes().String() {
		return text
	}
	return ""
}

// blockedRevert is a revert that the node has no room for, and that is recorded.
type blockedRevert struct {
	// then skips the pod because of it.
	then *draft
	// hurts means that the pod still has a size that made it worse.
	hurts bool
	found *reversal
}

// blocked returns the revert as it is if the pod gets no other size.
func (c *reversal) blocked(d *draft, s *Snapshot) *blockedRevert {
	then := d.fork()
	v := c.decide(then, s)
	then.apply("revert", v)
	return &blockedRevert{then, c.hurts(), c}
}

// settleBlocked makes a blocked revert the plan, unless the pod gets a size that eases it, or only a request of the
// revert is missing.
func (p *Planner) settleBlocked(d *draft, _ *Snapshot) *verdict {
	b := d.blocked
	switch {
	case b == nil:
		return nil
	case !b.hurts || b.eased(d):
		return &verdict{again: b.then.ReplanAt}
	}
	return &verdict{becomes: b.then}
}

// eased reports whether the draft raises each size that the blocked revert would revert, and lowers none.
func (b *blockedRevert) eased(d *draft) bool {
	for i := range d.Containers {
		for _, m := range sizing.Measures {
			has, to := *m.Of(&d.Containers[i].Current), *m.Of(&d.Containers[i].Desired)
			if guard.Lowers(has, to) || to == has && b.found.of(i, m) != nil {
				return false
			}
		}
	}
	return d.Kind == Sizes && d.Decision == Resize
}
