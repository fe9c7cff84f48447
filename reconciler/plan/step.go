package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// proves reports whether smaller sizes of the pod must prove themselves.
func (d *draft) proves(s *Snapshot) bool {
	return s.Degraded == "" && s.Siblings != nil && !s.Now.IsZero() && d.rule.profile.Guard.Enabled
}

// keepSingletonLimits keeps the limits of the only pod of its controller from shrinking, and each request that
// equals its limit: it must stay equal to it. Pods of other versions do not count, because an update ends them.
func (p *Planner) keepSingletonLimits(d *draft, s *Snapshot) *verdict {
	settings := &d.rule.profile.Guard
	if !d.proves(s) || !settings.KeepSingletonLimits || slices.ContainsFunc(s.Siblings(), func(o *pod.Pod) bool {
		return o.UID != s.Pod.UID && o.Lives() && o.Controller().UID == s.Pod.Controller().UID
	}) {
		return nil
	}
	v := d.says()
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			has, to := *m.Of(&c.Current), *m.Of(&c.Desired)
			if to.Limit == 0 || to.Limit >= has.Limit {
				continue
			}
			step := d.resumed(i, m)
			if step.To.Limit = has.Limit; has.Request == has.Limit {
				step = Derived{Container: i, Measure: m, To: has}
			}
			v.because(contract.SingletonLimitKept, fmt.Sprintf("container %s: %s limit stays %s, because the pod is the only one of its workload", c.Name, m.Name, m.Text(has.Limit)))
			v.again = s.Now.Add(settings.Window) // By then, it may have siblings.
			v.sets = append(v.sets, v.notHurt(s.Pod, c, step))
		}
	}
	return v
}

// resumed returns the last step of a resource again, for a stage that changes only a part of it.
func (d *draft) resumed(container int, m *sizing.Measure) Derived {
	step := Derived{Container: container, Measure: m, To: *m.Of(&d.Containers[container].Desired), Cause: ByRatio}
	if last := d.last(container, m); last != nil {
		step.Cause, step.Clamped = last.Cause, last.Clamped
	}
	return step
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
			has, wanted := *m.Of(&c.Current), *m.Of(&c.Desired)
			step, least := Derived{Container: i, Measure: m, To: wanted, Cause: ByRatio}, has
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
				v.again = sooner(v.again, next)
			}
			v.because(contract.LoweredInSteps, fmt.Sprintf("container %s: %s %s instead of %s: the next step is at %s or later",
				c.Name, m.Name, m.Show(step.To), m.Show(wanted), next.UTC().Format(time.RFC3339)))
		}
	}
	return v
}

// notHurt returns the step, or one that keeps the size if the step would give it a size that was reverted. The stage
// that keeps reverted sizes compares them with the final size, and therefore does not notice a step, or a size with
// a kept limit.
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
