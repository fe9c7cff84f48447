package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Place is where something must change before a skipped pod can be resized.
type Place int

const (
	Nowhere Place = iota
	InNamespace
	OnNode
)

// Waits returns where something must change before a pod that was skipped for the reason can
// be resized.
func Waits(reason contract.Reason) Place {
	switch reason {
	case contract.QuotaExceeded, contract.LimitRangeViolation, contract.DisruptionBudget:
		return InNamespace
	case contract.NodeCapacity, contract.NodePressure, contract.RevertBlocked, contract.ResizeInfeasible, contract.ResizeError:
		return OnNode
	}
	return Nowhere
}

// degraded returns the veto of a breaker; nil if there is none. It lets reverts pass.
func (p *Plan) degraded(s *Snapshot) *safety.Veto {
	if s.Degraded == "" || p.Kind != Sizes {
		return nil
	}
	return &safety.Veto{Reason: contract.Degraded, Message: s.Degraded}
}

// outside skips a pod that is resized at other times, and reports whether it does. Without a time,
// as in a preview without a cluster, no schedule applies. Reverts and restores do not wait.
func (p *Plan) outside(profile *ratios.Profile, now time.Time) bool {
	windows := profile.Guard.Schedule
	if now.IsZero() || windows.Contains(now) {
		return false
	}
	opens := windows.Next(now)
	p.Skip(&safety.Veto{Reason: contract.OutsideSchedule, Message: "the schedule of the configuration resizes this pod from " + opens.UTC().Format(time.RFC3339)})
	p.replanAt(opens)
	return true
}

// tryOut keeps each resource that the plan would lower to a size that too few pods of the workload have
// tried, unless the pod is one of them. It returns a veto if nothing else would change.
//
// Increases, reverts and restores do not wait: they make no pod worse.
func (p *Plan) tryOut(s *Snapshot, profile *ratios.Profile, alike func() []*pod.Pod) *safety.Veto {
	settings := &profile.Guard
	if p.Kind != Sizes || s.Degraded != "" || s.Siblings == nil || s.Now.IsZero() || !settings.Enabled || settings.Canary >= 1 {
		return nil
	}
	trial := guard.Trial{Pod: s.Pod, NodeType: p.NodeType, Settings: settings, Now: s.Now}
	var waiting []Reason
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			has, to := *m.Of(&c.Current), *m.Of(&c.Desired)
			if to.Request >= has.Request && to.Limit >= has.Limit {
				continue
			}
			if trial.Siblings == nil {
				trial.Siblings = alike()
			}
			places, why := trial.Places(c.Name, m, to)
			if places > 0 {
				if places < guard.Unlimited && (p.Places == 0 || places < p.Places) {
					p.Places = places
				}
				continue
			}
			c.waits[m.Index] = true
			waiting = append(waiting, Reason{why.Reason, fmt.Sprintf("container %s: %s stays %s: %s", c.Name, m.Name, m.Show(has), why.Message)})
			p.replanAt(why.Again)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	if !p.differsBesides() {
		veto := &safety.Veto{Reason: waiting[0].Code}
		var messages []string
		for _, reason := range waiting {
			if reason.Code == veto.Reason {
				messages = append(messages, reason.Message)
			}
		}
		veto.Message = joined(messages, "; ")
		return veto
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			if c.waits[m.Index] {
				*m.Of(&c.Desired), c.clamped[m.Index] = *m.Of(&c.Current), false
			}
		}
	}
	for _, reason := range waiting {
		p.because(reason.Code, reason.Message)
	}
	return nil
}

// alike returns the siblings of a pod on nodes of the same type. The node counts, not the type that a
// sibling records: a pod with only some of its sizes records none.
func (p *Planner) alike(s *Snapshot, r *Ruling) []*pod.Pod {
	siblings, nodes := s.Siblings(), map[string]bool{}
	found := make([]*pod.Pod, 0, len(siblings))
	for _, sibling := range siblings {
		name := sibling.Node()
		same, known := nodes[name]
		if !known {
			other := p.RuleBy(r.profile, s.NodeOf(sibling), "")
			same = other.NodeType == r.NodeType
			nodes[name] = same
		}
		if same {
			found = append(found, sibling)
		}
	}
	return found
}

// differsBesides reports whether the plan changes a size that does not wait.
func (p *Plan) differsBesides() bool {
	return slices.ContainsFunc(p.Containers, func(c ContainerPlan) bool {
		for _, m := range sizing.Measures {
			if !c.waits[m.Index] && *m.Of(&c.Desired) != *m.Of(&c.Current) {
				return true
			}
		}
		return false
	})
}
