package plan

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// objection returns the first veto against the sizes of the plan; nil if there is none. whole
// means that the veto currently applies to any size.
func (p *Plan) objection(s *Snapshot, now progress) (veto *safety.Veto, whole bool) {
	if veto, whole = p.unready(s, now); veto != nil {
		return veto, whole
	}
	before, after := p.sizes(s.Pod, current)
	around := &s.Around
	if p.Kind != Sizes && (p.undoes || !p.completes) && around.Kept != nil {
		urgent := *around
		urgent.Kept = nil // A pod in distress, or that a user restores, comes before those that may need the room.
		around = &urgent
	}
	return safety.Change(s.Pod, p.QOSClass, before, after, around), false
}

// reductions select what to leave out of a plan with a veto, in the order in which they are
// tried: as little as possible first.
var reductions = [...]func(r *sizing.Measure, has, to sizing.Amount) bool{
	// A change that keeps limit and request equal, or unequal, does not change the QoS class.
	func(_ *sizing.Measure, has, to sizing.Amount) bool {
		return (has.Request == has.Limit) != (to.Request == to.Limit)
	},
	func(r *sizing.Measure, has, to sizing.Amount) bool { return r == sizing.CPU && grows(has, to) },
	func(r *sizing.Measure, has, to sizing.Amount) bool { return r == sizing.Memory && grows(has, to) },
	func(_ *sizing.Measure, has, to sizing.Amount) bool { return grows(has, to) },
	func(r *sizing.Measure, _, _ sizing.Amount) bool { return r == sizing.CPU },
	func(r *sizing.Measure, _, _ sizing.Amount) bool { return r == sizing.Memory },
}

func grows(has, to sizing.Amount) bool { return to.Request > has.Request || to.Limit > has.Limit }

// agree leaves out the parts of the plan that a veto applies to, and returns the veto if
// nothing remains: a node without room for more memory does not prevent cpu from shrinking. A
// resource of a container is left out as a whole, so that its limit stays in proportion to its
// request.
func (p *Plan) agree(s *Snapshot, now progress) *safety.Veto {
	veto, whole := p.objection(s, now)
	if veto == nil || whole {
		return veto
	}
	full := slices.Clone(p.Containers)
	for _, leavesOut := range reductions {
		for i := range p.Containers {
			c := &p.Containers[i]
			c.Desired, c.clamped = full[i].Desired, full[i].clamped
			for _, r := range sizing.Measures {
				has, to := *r.Of(&c.Current), r.Of(&c.Desired)
				if leavesOut(r, has, *to) {
					*to, c.clamped[r.Index] = has, false
				}
			}
		}
		if !p.differs() {
			continue
		}
		if still, _ := p.objection(s, now); still == nil {
			p.Partial, p.Vetoed = veto.Reason, true
			p.without = p.unlike(func(i int) *sizing.Container { return &full[i].Desired })
			p.because(veto.Reason, veto.Message+"; the rest is resized, except "+joined(p.without, ", "))
			return nil
		}
	}
	p.Containers = full
	return veto
}

// unlike lists the resources whose desired size differs from the given sizes of the same
// containers, e.g. "container app: cpu".
func (p *Plan) unlike(sizes func(i int) *sizing.Container) []string {
	var names []string
	for i := range p.Containers {
		for _, r := range sizing.Measures {
			if c := &p.Containers[i]; *r.Of(&c.Desired) != *r.Of(sizes(i)) {
				names = append(names, "container "+c.Name+": "+r.Name)
			}
		}
	}
	return names
}
