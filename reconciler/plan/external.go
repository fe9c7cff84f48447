package plan

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// External says what becomes of a size that somebody else gave a pod.
type External string

const (
	// LeaveExternal leaves it alone.
	LeaveExternal External = "leave"
	// AdoptExternal takes it for what the pod needs on its node: the original
	// becomes what comes to this size here.
	AdoptExternal External = "adopt"
	// OverrideExternal gives the pod the size of its original again.
	OverrideExternal External = "override"
)

// Externals lists the ways, the default first.
var Externals = []External{LeaveExternal, AdoptExternal, OverrideExternal}

// external deals with what somebody else resized, one resource of a container at a
// time: what a person did to its memory says nothing about its cpu, nor about
// other containers.
func (p *Planner) external(plan *Plan, bounds ratios.Bounds) {
	for i := range plan.Containers {
		c := &plan.Containers[i]
		for _, r := range sizing.Measures {
			if c.standings[r.Index].Claim == pod.Theirs {
				p.resolve(plan, c, r, bounds)
			}
		}
	}
}

// resolve does so for one resource.
func (p *Planner) resolve(plan *Plan, c *ContainerPlan, r *sizing.Measure, bounds ratios.Bounds) {
	s, original, present := &c.standings[r.Index], r.Of(&c.Original), *r.Of(&c.Current)
	known := c.knows(r)
	to, _ := r.Scale(*original, plan.factor(r), boundsOf(bounds, r))
	switch {
	case known && to == present && p.External == AdoptExternal && s.Set != 0:
		// The original that is known comes to it here. That is to be recorded, as at
		// another ratio it does not.
		c.noteAdopted(r)
	case known && to == present:
		// Whoever set it: it is what it should be.
	case known && p.External == OverrideExternal:
		s.Claim = pod.Scales
		*r.Of(&c.Desired) = to
	case p.External == AdoptExternal && s.Set != 0:
		plan.adopt(c, r, bounds)
		plan.scale(c, r, bounds)
	default:
		p.leave(plan, c, r, known)
	}
}

// leave says why a size that somebody else set stays.
func (p *Planner) leave(plan *Plan, c *ContainerPlan, r *sizing.Measure, known bool) {
	plan.Vetoed = plan.Vetoed || known
	plan.explainStays(c, r)
}

// adopt makes what somebody else set what its original comes to here. What he did
// not set keeps its original.
func (p *Plan) adopt(c *ContainerPlan, r *sizing.Measure, bounds ratios.Bounds) {
	s := &c.standings[r.Index]
	s.Set |= s.Adopted // Both are worked out together, as scale does.
	*r.Of(&c.Original) = p.unscaled(c, r, s.Set, bounds)
	c.noteAdopted(r)
}

// noteAdopted has it recorded what somebody else set, with the original.
func (c *ContainerPlan) noteAdopted(r *sizing.Measure) {
	s := &c.standings[r.Index]
	for _, which := range [...]contract.Original{r.Request, r.Limit} {
		if amount, _ := amountOf(&c.Original, which); s.Set&(1<<which) != 0 && amount != 0 {
			c.noteOriginal(which)
			c.adopts |= 1 << which
		}
	}
	s.Claim, s.Adopted = pod.Scales, s.Adopted|s.Set
}

// settled says what became of the sizes that somebody else set: the plan adopts or
// overrides them.
func (p *Plan) settled() []string {
	var said []string
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, r := range sizing.Measures {
			s, had := &c.standings[r.Index], r.Show(*r.Of(&c.Current))
			switch {
			case s.Claim != pod.Scales || c.of.SetBy(r) == "":
			case c.adopts&(1<<r.Request|1<<r.Limit) != 0:
				said = append(said, fmt.Sprintf("container %s: %s %s, which %s set, is adopted (from now on originally %s)", c.Name, r.Name, had, c.of.SetBy(r), r.Show(*r.Of(&c.Original))))
			default:
				said = append(said, fmt.Sprintf("container %s: %s %s, which %s set, is overridden with %s", c.Name, r.Name, had, c.of.SetBy(r), r.Show(*r.Of(&c.Desired))))
			}
		}
	}
	return said
}
