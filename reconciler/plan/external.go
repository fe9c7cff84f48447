package plan

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// External selects how to handle a size that another actor set.
type External string

const (
	// LeaveExternal keeps the size.
	LeaveExternal External = "leave"
	// AdoptExternal treats the size as what the pod needs on its node: the original becomes
	// the amount that scales to this size here.
	AdoptExternal External = "adopt"
	// OverrideExternal replaces the size with the size for the pod's original.
	OverrideExternal External = "override"
)

// Externals lists the values, the default first.
var Externals = []External{LeaveExternal, AdoptExternal, OverrideExternal}

// external handles the sizes that another actor set, or will set, separately for each resource of a
// container: a change to memory says nothing about cpu or about other containers.
func (p *Planner) external(plan *Plan, s *Snapshot, bounds policy.Bounds) {
	for i := range plan.Containers {
		c := &plan.Containers[i]
		for _, r := range sizing.Measures {
			switch {
			case s.VPA.Sizes(s.Pod, c.Name, r):
				plan.leaveTo(s.VPA, c, r)
				if r == sizing.CPU && s.VPA.Boosting(s.Pod, c.Name) {
					c.unrecorded &^= 1<<r.Request | 1<<r.Limit
				}
			case c.standings[r.Index].Claim == pod.Theirs:
				p.resolve(plan, c, r, bounds)
			}
		}
	}
}

// leaveTo leaves a resource to the VerticalPodAutoscaler that sizes it.
func (p *Plan) leaveTo(vpa *safety.VPA, c *ContainerPlan, r *sizing.Measure) {
	to, has := r.Of(&c.Desired), *r.Of(&c.Current)
	if has.Request == 0 {
		return
	}
	if *to != has || c.standings[r.Index].Claim != pod.Scales {
		p.because(contract.ActiveVPA, fmt.Sprintf("container %s: %s is left to VerticalPodAutoscaler %s (%s)", c.Name, r.Name, vpa.Name, r.Show(has)))
	}
	p.Vetoed = p.Vetoed || *to != has
	*to, c.clamped[r.Index], c.standings[r.Index].Claim = has, false, pod.Theirs
}

// resolve handles one resource.
func (p *Planner) resolve(plan *Plan, c *ContainerPlan, r *sizing.Measure, bounds policy.Bounds) {
	s, original, present := &c.standings[r.Index], r.Of(&c.Original), *r.Of(&c.Current)
	known := c.knows(r)
	to, _ := r.Scale(*original, plan.factor(r), boundsOf(bounds, r))
	switch {
	case known && to == present && p.External == AdoptExternal && s.Set != 0:
		// The known original scales to this size here. The adoption must be recorded,
		// because the sizes differ at a different ratio.
		c.noteAdopted(r)
	case known && to == present:
		// The size is as desired, regardless of who set it.
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

// leave adds the reason why a size that another actor set stays.
func (p *Planner) leave(plan *Plan, c *ContainerPlan, r *sizing.Measure, known bool) {
	plan.Vetoed = plan.Vetoed || known
	plan.explainStays(c, r)
}

// adopt sets the originals so that they scale to the amounts that another actor set. Amounts
// that the actor did not set keep their originals.
func (p *Plan) adopt(c *ContainerPlan, r *sizing.Measure, bounds policy.Bounds) {
	s := &c.standings[r.Index]
	s.Set |= s.Adopted // Both are computed together, as in scale.
	*r.Of(&c.Original) = p.unscaled(c, r, s.Set, bounds)
	c.noteAdopted(r)
}

// noteAdopted notes that the amounts that another actor set must be recorded, with their
// originals.
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

// settled describes the sizes of other actors that the plan adopts or overrides.
func (p *Plan) settled() []string {
	var said []string
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, r := range sizing.Measures {
			s, had := &c.standings[r.Index], r.Show(*r.Of(&c.Current))
			switch {
			case s.Claim != pod.Scales || c.of.SetBy(r) == "":
			case c.adopts&(1<<r.Request|1<<r.Limit) != 0:
				said = append(said, fmt.Sprintf("container %s: %s %s, set by %s, is adopted (new original: %s)", c.Name, r.Name, had, c.of.SetBy(r), r.Show(*r.Of(&c.Original))))
			default:
				said = append(said, fmt.Sprintf("container %s: %s %s, set by %s, is overridden with %s", c.Name, r.Name, had, c.of.SetBy(r), r.Show(*r.Of(&c.Desired))))
			}
		}
	}
	return said
}
