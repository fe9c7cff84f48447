package plan

import (
	"slices"
	"sort"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// room judges whether the node, the namespace and earlier attempts allow the sizes. If they allow only a part of them,
// the rest stays: a node without room for more memory does not prevent cpu from shrinking.
func (p *Planner) room(d *draft, s *Snapshot) *verdict {
	v := d.says()
	part, veto := d.agree(s, false)
	switch {
	case veto != nil:
		v = d.skips(stays, veto.Reason, veto.Message)
		v.again = hearsOfBudgets(d.Reasons, s.Now)
	case part != nil:
		v.sets, v.reasons, v.vetoed, v.partial, v.without = part.left, []Reason{part.reason}, true, part.reason.Code, part.without
	}
	if s.Around.Infeasible != nil {
		v.again = need.Sooner(v.again, s.InfeasibleUntil)
	}
	if s.Around.Kept != nil && (v.partial == contract.NodeCapacity || veto != nil && veto.Reason == contract.NodeCapacity) {
		_, until := s.Around.Kept()
		v.again = need.Sooner(v.again, until)
	}
	return v
}

// schedulableFor is how long a pod may wait for a node with more than its author wrote.
const schedulableFor = 10 * time.Second

// schedulable gives a pod the requests that its author wrote if it got larger ones while it was being created, and no node
// has room for these. It is the only resize of a pod without a node. Limits that are apart stay, unless the namespace allows
// only those that its author wrote.
func (p *Planner) schedulable(d *draft, s *Snapshot) *verdict {
	since := s.Pod.UnschedulableSince()
	if since.IsZero() || !s.Pod.SizedAtCreation() || p.vetoed(s, contract.NotScheduled, contract.NotRunning) != nil {
		return nil
	}
	v := d.says()
	v.sets = d.authoredRequests(false)
	then := d.fork()
	then.set("", v.sets)
	if veto, _ := then.objection(s, false); veto != nil {
		v.sets = d.authoredRequests(true) // For example, a LimitRange has a largest ratio of limits to requests.
	}
	until := since.Add(schedulableFor)
	switch {
	case len(v.sets) == 0:
		return nil
	case s.Now.Before(until):
		v = d.skips(decided, contract.NotScheduled, "no node has room for the pod; from "+until.UTC().Format(time.RFC3339)+" on, it gets the requests that its author wrote")
		v.again = until
		return v
	}
	v.next, v.decision, v.partial = decided, Resize, contract.NotScheduled
	v.because(contract.NotScheduled, "no node has room for more than its author wrote")
	return v
}

// authoredRequests gives resources the requests that the author wrote, if these are smaller. limits means that they get the
// limits, too, even if these are apart.
func (d *draft) authoredRequests(limits bool) (sets []Derived) {
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			has, authored := *m.Of(&c.Current), *m.Of(&c.Original)
			if !d.ours(i, m) || authored.Request >= has.Request {
				continue
			}
			to := sizing.Amount{Request: authored.Request, Limit: has.Limit}
			if limits || authored.Limit == authored.Request || d.boosted(i, m) {
				to.Limit = authored.Limit
			}
			sets = append(sets, Derived{Container: i, Measure: m, To: to, Cause: ByRestore})
		}
	}
	return sets
}

// unready returns the veto against changing the sizes of a pod now; whole means that it also
// applies to a smaller change.
func (d *draft) unready(s *Snapshot) (veto *safety.Veto, whole bool) {
	if d.Kind == Restore {
		return nil, false // A restore that a user requested does not wait.
	}
	if r := s.Refused; r != nil && r.stands(d.Plan, s) {
		return &safety.Veto{Reason: r.Reason.Code, Message: r.Reason.Message}, true
	}
	switch now := &d.now; {
	case d.Kind == Revert:
		// A pod in distress does not wait.
	case now.code == contract.ResizeInProgress && !now.overdue:
		return &safety.Veto{Reason: now.code, Message: "the previous resize is still in progress"}, true
	case now.code == contract.ResizeDeferred && d.grows():
		// The node may have room for a smaller size than the pending one.
		return &safety.Veto{Reason: now.code, Message: "the previous resize is still pending: " + now.message}, false
	}
	return nil, false
}

// objection returns the first veto against the sizes of the draft; nil if there is none. whole
// means that the veto currently applies to any size. A pod in distress, or that a user restores, is urgent: it comes
// before those that may need the room that is kept.
func (d *draft) objection(s *Snapshot, urgent bool) (veto *safety.Veto, whole bool) {
	if veto, whole = d.unready(s); veto != nil {
		return veto, whole
	}
	before, after := d.sizes(s.Pod, current)
	around := &s.Around
	if urgent && around.Kept != nil {
		all := *around
		all.Kept = nil
		around = &all
	}
	return safety.Change(s.Pod, d.QOSClass, before, after, around), false
}

// reductions select what to leave out of a plan with a veto, in the order in which they are
// tried: as little as possible first.
var reductions = [...]func(m *sizing.Measure, has, to sizing.Amount) bool{
	// A change that keeps limit and request equal, or unequal, does not change the QoS class.
	func(_ *sizing.Measure, has, to sizing.Amount) bool {
		return (has.Request == has.Limit) != (to.Request == to.Limit)
	},
	func(m *sizing.Measure, has, to sizing.Amount) bool { return m == sizing.CPU && grows(has, to) },
	func(m *sizing.Measure, has, to sizing.Amount) bool { return m == sizing.Memory && grows(has, to) },
	func(_ *sizing.Measure, has, to sizing.Amount) bool { return grows(has, to) },
	func(m *sizing.Measure, _, _ sizing.Amount) bool { return m == sizing.CPU },
	func(m *sizing.Measure, _, _ sizing.Amount) bool { return m == sizing.Memory },
}

// reduced is a draft without the parts that a veto applies to.
type reduced struct {
	draft *draft
	// left are the resources that stay, without lists them, and reason says why.
	left    []Derived
	without []string
	reason  Reason
}

// agree returns nothing if there is no veto against the draft, or else the largest part of it without one, or the veto
// if nothing remains. A resource of a container is left out as a whole, so that its limit stays in proportion
// to its request.
func (d *draft) agree(s *Snapshot, urgent bool) (*reduced, *safety.Veto) {
	veto, whole := d.objection(s, urgent)
	if veto == nil || whole {
		return nil, veto
	}
	if r := d.withoutBoosts(s, veto, urgent); r != nil {
		return r, nil
	}
	if s.Creating && len(d.unboosted()) == 0 { // A part of a boost would count as what the pod needs.
		if r := d.fallBack(s, veto); r != nil {
			return r, nil
		}
	}
	for _, leavesOut := range reductions {
		r := reduced{draft: d.fork()}
		for i := range d.Containers {
			c := &d.Containers[i]
			for _, m := range sizing.Measures {
				if has, to := *m.Of(&c.Current), *m.Of(&c.Desired); leavesOut(m, has, to) {
					r.left = append(r.left, Derived{Container: i, Measure: m, To: has})
				}
			}
		}
		r.draft.set("", r.left)
		if !r.draft.differs() {
			continue
		}
		if still, _ := r.draft.objection(s, urgent); still == nil {
			r.without = r.draft.unlike(func(i int) *sizing.Container { return &d.Containers[i].Desired })
			r.reason = Reason{veto.Reason, veto.Message + "; the rest is resized, except " + joined(r.without, ", ")}
			return &r, nil
		}
	}
	return nil, veto
}

// withoutBoosts returns the largest part of the draft without a veto if no container is boosted: what is needed comes before what
// helps to start. The boosts stay if they fit next to that part. It returns nil if there are none, or if nothing would remain.
func (d *draft) withoutBoosts(s *Snapshot, veto *safety.Veto, urgent bool) *reduced {
	r := reduced{left: d.unboosted()}
	if len(r.left) == 0 {
		return nil
	}
	r.draft = d.fork()
	r.draft.set("", r.left)
	if !r.draft.differs() {
		return nil
	}
	part, still := r.draft.agree(s, urgent)
	switch {
	case still != nil:
		return nil
	case part != nil:
		with := d.fork()
		with.set("", part.left)
		if still, _ := with.objection(s, urgent); still == nil {
			r.draft, r.left = with, part.left
			break
		}
		r.draft, r.left = part.draft, append(r.left, part.left...)
	}
	r.without = r.draft.unlike(func(i int) *sizing.Container { return &d.Containers[i].Desired })
	r.reason = Reason{veto.Reason, veto.Message + "; the pod gets the rest, except " + joined(r.without, ", ")}
	return &r
}

// parts is in how many parts the growth of a resource is divided.
const parts = 256

// fallBack returns the largest draft without a veto, for a pod that is being created and would otherwise be rejected: of each
// resource, all containers grow by the same share of what they would grow by. A limit that is apart from its request keeps its
// full size, if it may. It returns nil if nothing may grow.
func (d *draft) fallBack(s *Snapshot, veto *safety.Veto) *reduced {
	for _, limits := range [...]bool{false, true} {
		var grown [2]int // parts of the growth of each resource
		passes := func() *reduced {
			r := &reduced{draft: d.fork(), left: d.grownBy(grown, limits)}
			r.draft.set("", r.left)
			if still, _ := r.draft.objection(s, false); still != nil {
				return nil
			}
			return r
		}
		found := passes()
		if found == nil {
			continue
		}
		for _, m := range sizing.Measures {
			grown[m.Index] = sort.Search(parts, func(n int) bool {
				grown[m.Index] = n + 1
				r := passes()
				if r != nil {
					found = r
				}
				return r == nil
			})
		}
		if !found.draft.differs() {
			return nil
		}
		found.without = found.draft.unlike(func(i int) *sizing.Container { return &d.Containers[i].Desired })
		found.reason = Reason{veto.Reason, veto.Message + "; the pod gets as much as it may of " + joined(found.without, ", ")}
		return found
	}
	return nil
}

// grownBy returns the sizes of the resources that grow, if each grows by so many parts. limits means that limits that are apart
// from their requests are reduced, too.
func (d *draft) grownBy(grown [2]int, limits bool) (sets []Derived) {
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			has, full := *m.Of(&c.Current), *m.Of(&c.Desired)
			if !grows(has, full) || grown[m.Index] == parts {
				continue
			}
			part := func(has, full int64) int64 {
				if full <= has {
					return full
				}
				return has + (full-has)/m.Unit*int64(grown[m.Index])/parts*m.Unit
			}
			to := sizing.Amount{Request: part(has.Request, full.Request), Limit: full.Limit}
			switch {
			case full.Limit == full.Request:
				to.Limit = to.Request
			case limits && full.Limit != 0:
				to.Limit = max(part(has.Limit, full.Limit), to.Request+m.Unit)
			}
			sets = append(sets, Derived{Container: i, Measure: m, To: to, Cause: d.last(i, m).Cause})
		}
	}
	return sets
}

// unlike lists the resources whose desired size differs from the given sizes of the same
// containers, e.g. "container app: cpu".
func (p *Plan) unlike(sizes func(i int) *sizing.Container) []string {
	var names []string
	for i := range p.Containers {
		for _, m := range sizing.Measures {
			if c := &p.Containers[i]; *m.Of(&c.Desired) != *m.Of(sizes(i)) {
				names = append(names, "container "+c.Name+": "+m.Name)
			}
		}
	}
	return names
}

// hearsOfBudgets returns when a pod is planned again if a part of it waits for a budget, but the pod as a whole for
// something else: changes to budgets do not queue it then.
func hearsOfBudgets(reasons []Reason, now time.Time) time.Time {
	if slices.ContainsFunc(reasons, func(r Reason) bool { return r.Code == contract.DisruptionBudget }) {
		return now.Add(blockedFor)
	}
	return time.Time{}
}
