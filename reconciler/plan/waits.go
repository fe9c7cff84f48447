package plan

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

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

// GroupKind is what pods have in common that take places of each other.
type GroupKind int

const (
	// OfOneWorkload pods have the same workload, OnOneNode pods the same node, and Budgeted pods the same
	// PodDisruptionBudget.
	OfOneWorkload GroupKind = iota
	OnOneNode
	Budgeted
)

// Group is pods of which only some may have a smaller size that has not proven itself.
type Group struct {
	Kind GroupKind
	// Namespace is empty for the pods of a node. Name is a name, or the UID of a workload's controller.
	Namespace, Name string
}

// Claim is a place in a group. Places is how many more of its pods may get a smaller size now, this pod
// included.
type Claim struct {
	Group  Group
	Places int
}

// step limits by how much the plan lowers each size. A size that a resize lowered before stays until that
// has proven itself.
func (p *Plan) step(s *Snapshot, settings *policy.Guard) {
	if settings.MaxChange >= 1 {
		return
	}
	observed := guard.Observed(s.Pod, settings.Window, s.Now)
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			has, to, least := *m.Of(&c.Current), m.Of(&c.Desired), *m.Of(&c.Current)
			wanted, before := *to, c.unproven[m.Index]
			waits := observed && guard.Lowers(before, has)
			if !waits {
				least = sizing.Amount{Request: lessBy(has.Request, settings.MaxChange, m), Limit: lessBy(has.Limit, settings.MaxChange, m)}
			}
			if to.Request = max(to.Request, least.Request); to.Limit != 0 {
				to.Limit = max(to.Limit, least.Limit)
				if has.Limit > has.Request && to.Limit <= to.Request {
					to.Limit = to.Request + m.Unit // Rounding must not change the QoS class.
				}
			}
			if *to == wanted {
				continue
			}
			c.clamped[m.Index] = false
			if p.keepsFromHurt(s.Pod, c, m) {
				continue
			}
			next := s.Now.Add(settings.Window)
			if waits {
				next = guard.Until(s.Pod, settings.Window)
				p.replanAt(next)
			}
			p.because(contract.LoweredInSteps, fmt.Sprintf("container %s: %s %s instead of %s: the next step is at %s or later",
				c.Name, m.Name, m.Show(*to), m.Show(wanted), next.UTC().Format(time.RFC3339)))
		}
	}
}

// keepsFromHurt keeps a resource from a size that was reverted, and reports whether it does. keepReverted compares
// reverted sizes with the final size, and therefore does not notice a step, or a size with a kept limit.
func (p *Plan) keepsFromHurt(of *pod.Pod, c *ContainerPlan, m *sizing.Measure) bool {
	has, to := *m.Of(&c.Current), m.Of(&c.Desired)
	for _, r := range of.Reverts() {
		if r.Container == c.Name && r.Measure == m && r.Hurt == *to {
			p.because(contract.Reverted, fmt.Sprintf("container %s: %s stays %s instead of %s until its desired size is larger than that: %s (%s)",
				c.Name, m.Name, m.Show(has), m.Show(*to), r.Message, r.Harm))
			*to = has
			return true
		}
	}
	return false
}

// lessBy returns an amount lowered by a share, or by one unit if that is more: otherwise, small amounts
// would never get smaller.
func lessBy(amount int64, share float64, m *sizing.Measure) int64 {
	const lost = 1e-9 // 1 - 0.7 is more than 0.3 as a float64.
	units := int64(math.Ceil((1-share)*float64(amount)/float64(m.Unit) - lost))
	return max(0, min(units*m.Unit, amount-m.Unit))
}

// tryOut keeps each resource that the plan would lower to a size that too few pods of the workload have
// tried, unless the pod is one of them. It also keeps it while too many pods have smaller sizes that have not
// proven themselves. It skips the pod if nothing else would change, and reports whether it does.
//
// Increases, reverts and restores do not wait: they make no pod worse. A new pod waits only if its first size made
// another pod of its version worse.
func (p *Plan) tryOut(s *Snapshot, profile *ratios.Profile, alike func(counts func(*pod.Pod) bool) []*pod.Pod) (skips bool) {
	settings := &profile.Guard
	if p.Kind != Sizes || s.Degraded != "" || s.Siblings == nil || s.Now.IsZero() || !settings.Enabled {
		return false
	}
	if p.keepSingletonLimits(s, settings); s.InTheEnd {
		return false
	}
	p.step(s, settings)
	crowded := sync.OnceValue(func() guard.Wait { return p.crowded(s, settings) })
	counts := func(*pod.Pod) bool { return true }
	if p.Begins() {
		counts = guard.MayShowHarm
	}
	trial := guard.Trial{Pod: s.Pod, NodeType: p.NodeType, Settings: settings, Now: s.Now}
	var waiting []Reason
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			has, to := *m.Of(&c.Current), *m.Of(&c.Desired)
			if !guard.Lowers(has, to) {
				continue
			}
			if settings.Canary < 1 && trial.Siblings == nil {
				trial.Siblings = alike(counts)
			}
			var places int
			var why guard.Wait
			if p.Begins() {
				places, why = guard.Unlimited, trial.Reverted(c.Name, m, to)
			} else if places, why = trial.Places(c.Name, m, to); places > 0 {
				why = crowded()
			}
			if why.Reason == "" {
				p.claim(s.ofWorkload(), places)
				continue
			}
			c.waits[m.Index] = true
			waiting = append(waiting, Reason{why.Reason, fmt.Sprintf("container %s: %s stays %s: %s", c.Name, m.Name, m.Show(has), why.Message)})
			p.replanAt(why.Again)
		}
	}
	if len(waiting) == 0 {
		return false
	}
	nothingElse := !p.differsBesides()
	if nothingElse {
		p.Skip(&safety.Veto{Reason: waiting[0].Code, Message: waiting[0].Message})
		waiting = waiting[1:]
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			if c.waits[m.Index] {
				*m.Of(&c.Desired), c.clamped[m.Index] = *m.Of(&c.Current), false
			}
		}
	}
	// A resource may wait for the canaries while it is known of the other that it made them worse.
	for _, reason := range waiting {
		p.because(reason.Code, reason.Message)
	}
	return nothingElse
}

// crowded claims a place for the pod wherever too many pods must not have smaller sizes at the same time.
// It says why the pod must wait if there is none.
func (p *Plan) crowded(s *Snapshot, settings *policy.Guard) guard.Wait {
	takes := func(group Group, most int, within time.Duration, pods func() []*pod.Pod, reason contract.Reason, full string) guard.Wait {
		if most == 0 { // A budget may have very many pods.
			return guard.Wait{Reason: reason, Message: full}
		}
		crowd := guard.Crowd{Pods: pods(), Most: most, Within: within, Now: s.Now}
		places, next := crowd.Places(s.Pod)
		if places == 0 {
			return guard.Wait{Reason: reason, Message: full + ", the first until " + next.UTC().Format(time.RFC3339), Again: crowd.Again(s.Pod, next)}
		}
		p.claim(group, places)
		return guard.Wait{}
	}
	observed := func(n int, of string) string {
		return fmt.Sprintf("as many pods of the %s as guard.maxPods allows (%d) have smaller sizes that have not proven themselves", of, n)
	}
	var why guard.Wait
	if n := settings.MaxPods; n > 0 {
		why = takes(s.ofWorkload(), n, settings.Window, s.Siblings, contract.WaitingForOthers, observed(n, "workload"))
	}
	if n := settings.MaxPodsOnNode; n > 0 && why.Reason == "" {
		why = takes(Group{OnOneNode, "", s.Pod.Node()}, n, settings.Window, s.OnNode, contract.WaitingForOthers, observed(n, "node"))
	}
	if why.Reason != "" || !settings.DisruptionBudgets || s.Budgets == nil {
		return why
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
		why = takes(Group{Budgeted, s.Pod.Namespace(), b.Name}, b.Allowed, settings.Unready, b.Pods, contract.DisruptionBudget, full)
		if why.Reason != "" {
			return why
		}
	}
	return guard.Wait{}
}

// hearOfBudgets plans a pod with a veto again if a part of it waits for a budget: the pod waits only for the end
// of the veto, and changes to budgets do not queue it.
func (p *Plan) hearOfBudgets(now time.Time) {
	if slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.Code == contract.DisruptionBudget }) {
		p.replanAt(now.Add(blockedFor))
	}
}

// dropClaims drops the claims of a plan that lowers no size in the end: increases do not wait for places.
func (p *Plan) dropClaims() {
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			if guard.Lowers(*m.Of(&c.Current), *m.Of(&c.Desired)) {
				return
			}
		}
	}
	p.Claims = nil
}

// claim claims a place in a group, unless there are places for all.
func (p *Plan) claim(group Group, places int) {
	if places == guard.Unlimited {
		return
	}
	for i := range p.Claims {
		if claim := &p.Claims[i]; claim.Group == group {
			claim.Places = min(claim.Places, places)
			return
		}
	}
	p.Claims = append(p.Claims, Claim{group, places})
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

// alike returns those siblings of a pod that count, on nodes of the same type. The node counts, not the type that a
// sibling records: a pod with only some of its sizes records none.
func (p *Planner) alike(s *Snapshot, r *Ruling, counts func(*pod.Pod) bool) []*pod.Pod {
	siblings, nodes := s.Siblings(), map[string]bool{}
	found := make([]*pod.Pod, 0, len(siblings))
	for _, sibling := range siblings {
		if !counts(sibling) {
			continue
		}
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
