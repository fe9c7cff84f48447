package plan

import (
	"fmt"
	"math"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// scale gives each resource that we may change the size of its need on the node.
func (p *Planner) scale(d *draft, _ *Snapshot) *verdict {
	v := d.says()
	v.sets = d.Derivation[len(d.Derivation):] // There is room for them.
	for i := range d.Containers {
		for _, m := range sizing.Measures {
			if c := &d.Containers[i]; d.ours(i, m) && (c.Needs[m.Index].Request(m, d.guaranteed()) != 0 || m.Of(&c.Current).Request != 0) {
				d.scaled(v.derives(i, m), d.parts[i].standings[m.Index], &c.Needs[m.Index])
			}
		}
	}
	return v
}

// scaled completes the derived size that gives a resource with a standing the size of a need.
func (d *draft) scaled(derived *Derived, of pod.Standing, n *need.Need) {
	m := derived.Measure
	current := *m.Of(&d.Containers[derived.Container].Current)
	to, clamped := n.On(m, d.factor(m), d.guaranteed())
	if of.Adopted != 0 {
		to = asAdopted(of, m, n.Authored, current, d.factor(m), to, clamped)
	}
	derived.To, derived.Cause, derived.Clamped = settle(of, m, current, to), causeOf(n), clamped
}

// asAdopted keeps an adopted amount if what is needed scales to nearly the same amount: some
// amounts change when they are unscaled and scaled again. For the same reason, a limit next
// to an adopted request scales by the factor alone.
func asAdopted(s pod.Standing, m *sizing.Measure, needed, current sizing.Amount, f sizing.Factor, to sizing.Amount, clamped bool) sizing.Amount {
	// Rounding loses half a millicore, times the factor on the way back, or less than a Mi.
	lost := float64(m.Unit)
	if m == sizing.CPU {
		lost += math.Ceil(f.Float64())
	}
	as := func(a, b int64) bool { return float64(max(a-b, b-a)) <= lost }
	// A difference that a bound causes is not a rounding loss.
	kept := to.Request == current.Request || !clamped && as(to.Request, current.Request)
	if s.Adopted&(1<<m.Request) != 0 && kept {
		if s.Adopted&(1<<m.Limit) == 0 && needed.Limit > needed.Request {
			limit, _ := m.Scale(sizing.Amount{Request: needed.Limit}, f, sizing.Range{})
			if to.Limit = max(limit.Request, current.Request+m.Unit); as(to.Limit, current.Limit) {
				to.Limit = current.Limit
			}
		}
		to.Request = current.Request
	}
	if s.Adopted&(1<<m.Limit) != 0 {
		// The limit next to a request that is rounded up may be off by one more unit than the
		// limit alone.
		alone, _ := m.Scale(sizing.Amount{Request: needed.Limit}, f, sizing.Range{})
		if as(to.Limit, current.Limit) || to.Request == current.Request && as(alone.Request, current.Limit) {
			to.Limit = current.Limit
		}
	}
	switch {
	case to.Limit == 0 || to.Limit > to.Request:
		// An adopted limit may be above its request by less than a unit.
	case needed.Limit > needed.Request:
		to.Limit = min(to.Request+m.Unit, m.Most)
	default:
		to.Limit = to.Request
	}
	return to
}

// settle returns the new amount for the present and the desired amount. A limit that stays is
// not equal to its request, and does not become equal.
func settle(s pod.Standing, m *sizing.Measure, present, to sizing.Amount) sizing.Amount {
	switch {
	case !s.Ours():
		return present
	case s.Claim == pod.LimitStays:
		if to.Limit = present.Limit; to.Limit <= to.Request {
			to.Limit = min(to.Request+m.Unit, m.Most)
		}
	}
	return to
}

// explainBounds adds reasons for requests that a bound determined.
func (v *verdict) explainBounds(d *draft) {
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			n := &c.Needs[m.Index]
			if wanted, gets, outgrown := n.Outgrown(m, d.guaranteed()); outgrown {
				v.because(contract.BoundsClamped, fmt.Sprintf("container %s: %s that is needed is clamped from %s to %s, %.4g times the original (demand.maxGrowth)", c.Name, m.Name,
					m.Text(wanted), m.Text(gets), n.Recommended.Rules.MaxGrowth))
			}
			last := d.last(i, m)
			switch {
			case last == nil || !last.Clamped:
			case last.Cause == ByBoost:
				v.because(contract.BoundsClamped, fmt.Sprintf("container %s: boosted %s is clamped to %s", c.Name, m.Name, m.Text(last.To.Request)))
			case n.Largest > 0 && last.To.Request == n.Largest:
				v.because(contract.DemandExceedsNodes, fmt.Sprintf("container %s: %s %s × %.4g is more than any node has, and is clamped to %s", c.Name, m.Name,
					m.Text(n.Request(m, d.guaranteed())), d.factor(m).Float64(), m.Text(n.Largest)))
			default:
				v.because(contract.BoundsClamped, fmt.Sprintf("container %s: %s %s × %.4g is clamped to %s", c.Name, m.Name,
					m.Text(n.Request(m, d.guaranteed())), d.factor(m).Float64(), m.Text(m.Of(&c.Desired).Request)))
			}
		}
	}
}
