package plan

import (
	"fmt"
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// proves reports whether smaller sizes of the pod must prove themselves.
func (d *draft) proves(s *Snapshot) bool {
	return s.Degraded == nil && s.Siblings != nil && !s.Now.IsZero() && d.rule.profile.Guard.Enabled
}

// step limits by how much each size is lowered. A size that a resize lowered before stays until that
// has proven itself.
func (p *Planner) step(d *draft, s *Snapshot) *verdict {
	settings := &d.rule.profile.Guard
	if !d.proves(s) || s.InTheEnd || settings.MaxChange >= 1 {
		return nil
	}
	v := d.says()
	observed := guard.Observed(s.Pod, settings.Window, s.Now)
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			has, wanted := d.present(i, m), *m.Of(&c.Desired)
			if wanted == *m.Of(&c.Current) {
				continue
			}
			step, least := Derived{Container: i, Measure: m, To: wanted, Cause: d.causeOf(i, m)}, has
			waits := observed && guard.Lowers(d.parts[i].unproven[m.Index], has)
			if !waits {
				least = sizing.Amount{Request: lessBy(has.Request, settings.MaxChange, m), Limit: lessBy(has.Limit, settings.MaxChange, m)}
			}
			if step.To.Request = max(wanted.Request, least.Request); wanted.Limit != 0 {
				step.To.Limit = max(wanted.Limit, least.Limit)
				if has.Limit > has.Request && step.To.Limit <= step.To.Request {
					step.To.Limit = step.To.Request + m.Unit // Rounding must not change the QoS class.
				}
			}
			if step.To == wanted {
				continue
			}
			unhurt := v.notHurt(s.Pod, c, step)
			v.sets = append(v.sets, unhurt)
			if unhurt != step {
				continue
			}
			next := s.Now.Add(settings.Window)
			if waits {
				next = guard.Until(s.Pod, settings.Window)
				v.again = need.Sooner(v.again, next)
			}
			v.because(contract.WaitingForProof, fmt.Sprintf("container %s: %s %s instead of %s: guard.maxChange lowers it in steps, and the next one is at %s or later",
				c.Name, m.Name, m.Show(step.To), m.Show(wanted), next.UTC().Format(time.RFC3339)))
		}
	}
	return v
}

// notHurt returns the step, or one that keeps the size if the step would give it a size that was reverted. The stage
// that keeps reverted sizes compares them with the final size, and therefore does not notice a step.
func (v *verdict) notHurt(of *pod.Pod, c *ContainerPlan, step Derived) Derived {
	m, has := step.Measure, *step.Measure.Of(&c.Current)
	for _, r := range of.Reverts() {
		if r.Container == c.Name && r.Measure == m && r.Hurt == step.To {
			v.because(contract.Reverted, fmt.Sprintf("container %s: %s stays %s instead of %s until its desired size is larger than that: %s (%s)",
				c.Name, m.Name, m.Show(has), m.Show(step.To), r.Message, r.Harm))
			return Derived{Container: step.Container, Measure: m, To: has}
		}
	}
	return step
}

// lessBy returns an amount lowered by a share, or by one unit if that is more: otherwise, small amounts
// would never get smaller.
func lessBy(amount int64, share float64, m *sizing.Measure) int64 {
	const lost = 1e-9 // 1 - 0.7 is more than 0.3 as a float64.
	units := int64(math.Ceil((1-share)*float64(amount)/float64(m.Unit) - lost))
	return max(0, min(units*m.Unit, amount-m.Unit))
}
