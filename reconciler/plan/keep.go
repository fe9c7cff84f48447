package plan

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
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

// claimed is what a stage changes about who sizes a resource, and from which original.
type claimed struct {
	container int
	measure   *sizing.Measure
	standing  pod.Standing
	// original is the new original; zero if it stays.
	original sizing.Amount
	// adopts has a bit (1 << contract.Original) for each amount to record as adopted, forgets for each original
	// not to record.
	adopts, forgets uint8
}

// claim notes who sizes a resource.
func (d *draft) claim(of *claimed) {
	c, has := &d.Containers[of.container], &d.parts[of.container]
	has.standings[of.measure.Index] = of.standing
	if of.original != (sizing.Amount{}) {
		*of.measure.Of(&c.Original) = of.original
		n := &c.Needs[of.measure.Index]
		n.Authored, n.Recommended, n.Withheld = of.original, nil, ""
	}
	has.adopts |= of.adopts
	has.unannotated = has.unannotated&^of.forgets | of.adopts
}

// keepOthers handles the sizes that another actor set, or will set, and those whose original is unknown,
// separately for each resource of a container: a change to memory says nothing about cpu or about other containers.
func (p *Planner) keepOthers(d *draft, s *Snapshot) *verdict {
	v := d.says()
	found, lost, boost := d.keep, []Reason(nil), s.Pod.StartupCPUBoost()
	for i := range d.Containers {
		for _, m := range sizing.Measures {
			switch claim := d.parts[i].standings[m.Index].Claim; {
			case s.VPA.Sizes(s.Pod, d.Containers[i].Name, m):
				v.leaveTo(d, i, m, "VerticalPodAutoscaler "+s.VPA.Name, m == sizing.CPU && s.VPA.Boosting(s.Pod, d.Containers[i].Name))
			case m == sizing.CPU && boost.Raises(d.Containers[i].Name):
				v.leaveTo(d, i, m, "StartupCPUBoost "+boost.Name, true)
			case claim == pod.Theirs:
				found.left = p.resolve(d, v, i, m) || found.left
			case claim == pod.Lost:
				lost = append(lost, d.stays(i, m))
				found.left, found.lost = true, true
			}
		}
	}
	v.reasons = append(v.reasons, lost...)
	if len(v.claimed)+len(v.sets)+len(v.reasons) == 0 && found == d.keep && d.now.replanAt.IsZero() {
		return nil
	}
	v.again = d.now.replanAt
	if found != d.keep {
		kept := found // Only a copy escapes to the heap.
		v.keep = &kept
	}
	return v
}

// leaveTo leaves a resource to the autoscaler that sizes it. boosts means that its size is not what its author wrote, because
// its container starts. Then, its original is recorded only if it is known that it was raised, and from what.
func (v *verdict) leaveTo(d *draft, i int, m *sizing.Measure, to string, boosts bool) {
	c, standing := &d.Containers[i], d.parts[i].standings[m.Index]
	desired, has := *m.Of(&c.Desired), *m.Of(&c.Current)
	left := claimed{container: i, measure: m, standing: standing}
	if boosts {
		left.forgets = (1<<m.Request | 1<<m.Limit) &^ d.parts[i].adopts
	}
	if has.Request != 0 {
		if desired != has || standing.Claim != pod.Scales {
			v.because(contract.ActiveVPA, fmt.Sprintf("container %s: %s is left to %s (%s)", c.Name, m.Name, to, m.Show(has)))
		}
		v.vetoed = v.vetoed || desired != has
		left.standing.Claim = pod.Theirs
		v.sets = append(v.sets, Derived{Container: i, Measure: m, To: has, Why: to})
	}
	v.claimed = append(v.claimed, left)
}

// resolve handles a resource that another actor set, and reports whether it stays.
func (p *Planner) resolve(d *draft, v *verdict, i int, m *sizing.Measure) (stays bool) {
	c, standing := &d.Containers[i], d.parts[i].standings[m.Index]
	original, present, known, by := *m.Of(&c.Original), *m.Of(&c.Current), c.knows(m), d.parts[i].of.SetBy(m)
	to, _ := c.Needs[m.Index].On(m, d.factor(m), d.guaranteed())
	switch {
	case known && to == present && p.External == AdoptExternal && standing.Set != 0:
		// The known original scales to this size here. The adoption must be recorded,
		// because the sizes differ at a different ratio.
		v.adopt(i, m, standing, original)
		v.sets = append(v.sets, Derived{Container: i, Measure: m, To: present, Cause: ByAdoption, Why: by})
	case known && to == present:
		// The size is as desired, regardless of who set it.
	case known && p.External == OverrideExternal:
		standing.Claim = pod.Scales
		v.claimed = append(v.claimed, claimed{container: i, measure: m, standing: standing})
		v.sets = append(v.sets, Derived{Container: i, Measure: m, To: to, Cause: causeOf(&c.Needs[m.Index]), Why: by})
	case p.External == AdoptExternal && standing.Set != 0:
		// Amounts that the actor did not set keep their originals. All are computed together, as when they scale.
		standing.Set |= standing.Adopted
		original = d.unscaled(i, m, standing.Set)
		standing = v.adopt(i, m, standing, original)
		adopted := Derived{Container: i, Measure: m, Why: by}
		d.scaled(&adopted, standing, &need.Need{Authored: original, Bounds: c.Needs[m.Index].Bounds})
		adopted.Cause = ByAdoption
		v.sets = append(v.sets, adopted)
	default:
		v.vetoed = v.vetoed || known
		v.reasons = append(v.reasons, d.stays(i, m))
		return true
	}
	return false
}

// adopt makes what another actor set the size that an original scales to, and returns the standing of the resource.
// The amounts and their originals are recorded.
func (v *verdict) adopt(i int, m *sizing.Measure, standing pod.Standing, original sizing.Amount) pod.Standing {
	to := claimed{container: i, measure: m, original: original}
	container := sizing.Container{}
	*m.Of(&container) = original
	for _, which := range [...]contract.Original{m.Request, m.Limit} {
		if standing.Set&(1<<which) != 0 && container.Amount(which) != 0 {
			to.adopts |= 1 << which
		}
	}
	standing.Claim, standing.Adopted = pod.Scales, standing.Adopted|standing.Set
	to.standing = standing
	v.claimed = append(v.claimed, to)
	return standing
}

// unscaled returns the original, computing the given parts (a bit each) from the container's
// current amounts. A limit is computed relative to the request that the container will have.
func (d *draft) unscaled(i int, m *sizing.Measure, parts uint8) sizing.Amount {
	c := &d.Containers[i]
	known, current := *m.Of(&c.Original), *m.Of(&c.Current)
	if parts&(1<<m.Request) != 0 {
		known.Request = 0
	} else {
		to, _ := m.Scale(sizing.Amount{Request: known.Request}, d.factor(m), *c.Needs[m.Index].Bounds)
		current.Request = to.Request
	}
	if parts&(1<<m.Limit) != 0 {
		known.Limit = 0
	}
	return m.Unscale(current, known, d.factor(m))
}

// knows reports whether the original request of a resource is known, and also the original
// limit if the container has a limit.
func (c *ContainerPlan) knows(m *sizing.Measure) bool {
	original, present := m.Of(&c.Original), m.Of(&c.Current)
	return original.Request != 0 && (original.Limit != 0) == (present.Limit != 0)
}

// stays returns the reason why a resource stays that we must not change.
func (d *draft) stays(i int, m *sizing.Measure) Reason {
	c, of := &d.Containers[i], d.parts[i].of
	present := m.Show(*m.Of(&c.Current))
	switch {
	case d.parts[i].standings[m.Index].Claim == pod.Lost:
		return Reason{contract.InvalidAnnotation, fmt.Sprintf("container %s: %s stays: %s", c.Name, m.Name, of.WhyLost(m))}
	case c.knows(m):
		return Reason{contract.ExternallyResized, fmt.Sprintf("container %s: %s stays as %s set it (%s, originally %s)", c.Name, m.Name, of.SetBy(m), present, m.Show(*m.Of(&c.Original)))}
	}
	return Reason{contract.ExternallyResized, fmt.Sprintf("container %s: %s stays as %s set it (%s), and its original is unknown", c.Name, m.Name, of.SetBy(m), present)}
}

// othersSizes describes the sizes of other actors that the plan adopts or overrides.
func (p *Plan) othersSizes() []string {
	var said []string
	for i := range p.Derivation {
		derived := &p.Derivation[i]
		c, m := &p.Containers[derived.Container], derived.Measure
		overrides := derived.Cause == ByRatio || derived.Cause == ByDemand && *m.Of(&c.Desired) != *m.Of(&c.Current)
		if derived.Stage != stageKeep || derived.Cause != ByAdoption && !overrides {
			continue
		}
		had := m.Show(*m.Of(&c.Current))
		if derived.Cause == ByAdoption {
			said = append(said, fmt.Sprintf("container %s: %s %s, set by %s, is adopted (new original: %s)", c.Name, m.Name, had, derived.Why, m.Show(*m.Of(&c.Original))))
		} else {
			said = append(said, fmt.Sprintf("container %s: %s %s, set by %s, is overridden with %s", c.Name, m.Name, had, derived.Why, m.Show(*m.Of(&c.Desired))))
		}
	}
	return said
}

// keeping is what the stages find out about originals and about sizes that stay because of them.
type keeping struct {
	// corrected means that annotations contain wrong originals.
	corrected bool
	// vouches is the value of the annotation with the managers whose originals are trusted;
	// empty if it need not be written.
	vouches string
	// left means that a size stays because another actor set it or its original is unknown;
	// lost means that at least one original is unknown.
	left, lost bool
}
