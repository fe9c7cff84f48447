package plan

import (
	"fmt"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// GroupKind is what pods have in common that take places of each other.
type GroupKind int

const (
	// OfOneWorkload pods have the same workload, and Budgeted pods the same PodDisruptionBudget.
	OfOneWorkload GroupKind = iota
	Budgeted
)

// Group is pods of which only some may have a smaller size that has not proven itself.
type Group struct {
	Kind      GroupKind
	Namespace string
	// Name is a name, or the UID of a workload's controller.
	Name string
}

// Claim is a place in a group. Places is how many more of its pods may get a smaller size now, this pod
// included.
type Claim struct {
	Group  Group
	Places int
}

// prove keeps each resource that would be lowered to a size that too few pods of the workload have
// tried, unless the pod is one of them. It also keeps it while a PodDisruptionBudget allows no disruption. It
// skips the pod if nothing else would change.
//
// Increases do not wait: they make no pod worse. A new pod waits only if its first size made
// another pod of its version worse.
func (p *Planner) prove(d *draft, s *Snapshot) *verdict {
	settings := &d.rule.profile.Guard
	if !d.proves(s) || s.InTheEnd || !d.lowers() {
		return nil
	}
	v := d.says()
	t := &trial{Trial: guard.Trial{Pod: s.Pod, NodeType: d.NodeType, Settings: settings, Now: s.Now}, begins: d.Begins()}
	t.disrupted = sync.OnceValue(func() guard.Wait { return t.disrupt(s) })
	waits, others := verdict{}, false
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			has, to := *m.Of(&c.Current), *m.Of(&c.Desired)
			if !guard.Lowers(has, to) {
				others = others || to != has
				continue
			}
			if settings.LimitsUnproven() && t.Siblings == nil {
				t.Siblings = p.alike(d, s)
			}
			why := t.try(s, c.Name, m, to)
			if why.Reason == "" {
				others = true
				continue
			}
			waits.sets = append(waits.sets, Derived{Container: i, Measure: m, To: has, Why: why.Message})
			waits.because(why.Reason, fmt.Sprintf("container %s: %s stays %s: %s", c.Name, m.Name, m.Show(has), why.Message))
			v.again = sooner(v.again, why.Again)
		}
	}
	v.claims = t.claims
	switch {
	case len(waits.sets) == 0:
	case others:
		v.sets, v.reasons = waits.sets, waits.reasons
	default:
		v.skip, v.next, v.sets, v.claims = waits.reasons[0], stays, nil, nil
		// A resource may wait for the canaries while it is known of the other that it made them worse.
		v.reasons, v.rest = waits.reasons[1:], true
		if v.skip.Code.Traits().Waits == contract.Nowhere {
			v.again = sooner(v.again, hearsOfBudgets(v.reasons, s.Now))
		}
	}
	return v
}

// trial is a guard.Trial of the sizes of a pod, and the places that it takes.
type trial struct {
	guard.Trial
	begins    bool
	disrupted func() guard.Wait
	claims    []Claim
}

// try claims what the pod takes to get a size, or says why it must wait.
func (t *trial) try(s *Snapshot, container string, m *sizing.Measure, to sizing.Amount) guard.Wait {
	if t.begins {
		return t.Reverted(container, m, to)
	}
	places, why := t.Places(container, m, to)
	if places > 0 {
		why = t.disrupted()
	}
	if why.Reason == "" {
		t.claim(s.ofWorkload(), places)
	}
	return why
}

// disrupt claims a place in each PodDisruptionBudget of the pod, or says why it must wait.
func (t *trial) disrupt(s *Snapshot) guard.Wait {
	if !t.Settings.DisruptionBudgets || s.Budgets == nil {
		return guard.Wait{}
	}
	budgets := s.Budgets()
	if n := len(budgets); n > MostBudgets {
		return guard.Wait{Reason: contract.DisruptionBudget, Message: fmt.Sprintf("%d PodDisruptionBudgets select the pod, more than %d", n, MostBudgets)}
	}
	for _, b := range budgets {
		full := fmt.Sprintf("PodDisruptionBudget %s allows no disruption", b.Name)
		if b.Allowed > 0 {
			full = fmt.Sprintf("PodDisruptionBudget %s allows disruptions (%d), but as many of its pods have just got smaller sizes", b.Name, b.Allowed)
		}
		// After that time, the budget knows whether they are ready.
		if why := t.take(Group{Budgeted, s.Pod.Namespace(), b.Name}, b.Allowed, b.Pods, full); why.Reason != "" {
			return why
		}
	}
	return guard.Wait{}
}

// take claims a place in a group of which most pods may have smaller sizes, or says why there is none.
func (t *trial) take(group Group, most int, pods func() []*pod.Pod, full string) guard.Wait {
	if most == 0 { // A budget may have very many pods.
		return guard.Wait{Reason: contract.DisruptionBudget, Message: full}
	}
	crowd := guard.Crowd{Pods: pods(), Most: most, Within: t.Settings.Unready, Now: t.Now}
	places, next := crowd.Places(t.Pod)
	if places == 0 {
		return guard.Wait{Reason: contract.DisruptionBudget, Message: full + ", the first until " + next.UTC().Format(time.RFC3339), Again: crowd.Again(t.Pod, next)}
	}
	t.claim(group, places)
	return guard.Wait{}
}

// claim claims a place in a group, unless there are places for all.
func (t *trial) claim(group Group, places int) {
	if places == guard.Unlimited {
		return
	}
	for i := range t.claims {
		if claim := &t.claims[i]; claim.Group == group {
			claim.Places = min(claim.Places, places)
			return
		}
	}
	t.claims = append(t.claims, Claim{group, places})
}

// ofWorkload returns the group of the pods of the pod's workload: its Deployment or, without one, its controller.
// Pods in other namespaces may name it, too, but do not belong to it.
func (s *Snapshot) ofWorkload() Group {
	group := Group{OfOneWorkload, s.Pod.Namespace(), string(s.Pod.Controller().UID)}
	if deployment, ok := safety.DeploymentOf(s.Pod); ok {
		group.Name = deployment.Kind + "/" + deployment.Name
	}
	return group
}

// alike returns the siblings of a pod on nodes of the same type; for a new pod, only those that may show harm. The node
// counts, not the type that a sibling records: a pod with only some of its sizes records none.
func (p *Planner) alike(d *draft, s *Snapshot) []*pod.Pod {
	siblings, nodes := s.Siblings(), map[string]bool{}
	found := make([]*pod.Pod, 0, len(siblings))
	for _, sibling := range siblings {
		if d.Begins() && !guard.MayShowHarm(sibling) {
			continue
		}
		name := sibling.Node()
		same, known := nodes[name]
		if !known {
			other := p.RuleBy(d.rule.profile, s.NodeOf(sibling), "")
			same = other.NodeType == d.NodeType
			nodes[name] = same
		}
		if same {
			found = append(found, sibling)
		}
	}
	return found
}
