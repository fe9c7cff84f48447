package plan

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// prove keeps each resource that would be lowered to a size that too few pods of the workload have
// tried, unless the pod is one of them. It also keeps it while a PodDisruptionBudget allows no disruption. It
// skips the pod if nothing else would change.
//
// Increases do not wait: they make no pod worse. A new pod waits only if its first size made
// another pod of its version worse.
func (p *Planner) prove(d *draft, s *Snapshot) *verdict {
	settings := &d.rule.profile.Guard
	if !d.proves(s) || s.InTheEnd || !d.lowers() && !d.hides() {
		return nil
	}
	v := d.says()
	t := &workload.Turn{
		Trial:  workload.Trial{Pod: s.Pod, NodeType: d.NodeType, Settings: settings, Now: s.Now, Lot: s.Lot},
		Limits: s.Budgets,
	}
	if s.Anywhere {
		t.NodeType = ""
	}
	waits, others := verdict{}, false
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			has, to := d.present(i, m), *m.Of(&c.Desired)
			if d.hidesDemand(i, m) {
				to = d.beforeBoost(i).To
			}
			if changes := to != *m.Of(&c.Current); !changes || !guard.Lowers(has, to) {
				others = others || changes
				continue
			}
			if settings.LimitsUnproven() && t.Siblings == nil {
				t.Siblings = p.alike(d, s)
			}
			// Nobody has tried what usage shows: a new pod of a version tries what its author wrote.
			t.Corrects = c.Needs[m.Index].Recommended != nil
			t.Trusted = (d.Begins() || d.boosted(i, m)) && !t.Corrects || t.Corrects && d.hasProven(s) && workload.HardlyLowers(has, to)
			why := t.Try(c.Name, m, to)
			if why.Reason == "" {
				others = true
				continue
			}
			stays := Derived{Container: i, Measure: m, To: has, Why: why.Message}
			if d.boosted(i, m) {
				stays.Cause, others = ByBoost, true // The boost ends anyway.
			}
			waits.sets = append(waits.sets, stays)
			waits.because(why.Reason, fmt.Sprintf("container %s: %s stays %s: %s", c.Name, m.Name, m.Show(has), why.Message))
			v.again = need.Sooner(v.again, why.Again)
		}
	}
	v.claims = t.Claims
	switch {
	case len(waits.sets) == 0:
	case others:
		v.sets, v.reasons = waits.sets, waits.reasons
	default:
		v.skip, v.next, v.sets, v.claims = waits.reasons[0], stays, nil, nil
		// A resource may wait for the canaries while it is known of the other that it made them worse.
		v.reasons, v.rest = waits.reasons[1:], true
		if v.skip.Code.Traits().Waits == contract.Nowhere {
			v.again = need.Sooner(v.again, hearsOfBudgets(v.reasons, s.Now))
		}
	}
	return v
}

// hasProven reports whether the size that the pod was given has proven itself on it.
func (d *draft) hasProven(s *Snapshot) bool {
	return !s.Pod.ResizedAt().IsZero() && len(s.Pod.Reverts()) == 0 && !guard.Observed(s.Pod, d.rule.profile.Guard.Window, s.Now)
}

// alike returns the siblings of a pod on nodes of the same type; for a new pod, only those that may show harm. The node
// counts, not the type that a sibling records: a pod with only some of its sizes records none. A pod that may run anywhere is
// like all of them: on the type that it is planned for, there may be none.
func (p *Planner) alike(d *draft, s *Snapshot) []*pod.Pod {
	siblings, nodes, authored := s.Siblings(), map[string]bool{}, d.Begins() && s.Demand == nil
	found := make([]*pod.Pod, 0, len(siblings))
	for _, sibling := range siblings {
		if authored && !workload.MayShowHarm(sibling) {
			continue
		}
		name := sibling.Node()
		same, known := nodes[name]
		if !known {
			other := p.RuleBy(d.rule.profile, s.NodeOf(sibling), "")
			same = s.Anywhere || other.NodeType == d.NodeType
			nodes[name] = same
		}
		if same {
			found = append(found, sibling)
		}
	}
	return found
}
