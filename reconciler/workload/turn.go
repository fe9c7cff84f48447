package workload

import (
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Claim is a place in a group. Places is how many more of its pods may get a smaller size now, the claiming pod
// included.
type Claim struct {
	Group  Group
	Places int
}

// Turn claims the places that a pod takes to get smaller sizes.
type Turn struct {
	Trial
	// Trusted means that the pod is new, or that the size is hardly smaller than one that has proven itself on the pod. It
	// does not wait for other pods, unless it made them worse.
	Trusted bool
	// Limits returns the budgets that select the pod; nil if disruptions are not limited.
	Limits func() []Limit
	// Claims are the places that the pod takes.
	Claims []Claim
	// disrupted is why the pod must wait for a budget, no matter for which size; nil if nobody has asked.
	disrupted *Wait
}

// Try claims what the pod takes to get a size, or says why it must wait.
func (t *Turn) Try(container string, m *sizing.Measure, to sizing.Amount) Wait {
	places, why := Unlimited, Wait{}
	if t.Trusted {
		why = t.Reverted(container, m, to)
	} else {
		places, why = t.Places(container, m, to)
	}
	if why.Reason == "" && (t.Corrects || !t.Trusted) { // A new pod may be one that the budget waits for.
		if t.disrupted == nil {
			disrupted := t.disrupt()
			t.disrupted = &disrupted
		}
		why = *t.disrupted
	}
	if why.Reason == "" {
		t.claim(GroupOf(t.Pod), places)
	}
	return why
}

// disrupt claims a place in each PodDisruptionBudget of the pod, or says why it must wait.
func (t *Turn) disrupt() Wait {
	if !t.Settings.DisruptionBudgets || t.Limits == nil {
		return Wait{}
	}
	limits := t.Limits()
	if n := len(limits); n > MostBudgets {
		return Wait{Reason: contract.DisruptionBudget, Message: fmt.Sprintf("%d PodDisruptionBudgets select the pod, more than %d", n, MostBudgets)}
	}
	for i := range limits {
		if why := t.take(&limits[i]); why.Reason != "" {
			return why
		}
	}
	return Wait{}
}

// take claims a place in a budget, or says why there is none.
func (t *Turn) take(b *Limit) Wait {
	if b.Allowed == 0 { // A budget may have very many pods.
		return Wait{Reason: contract.DisruptionBudget, Message: fmt.Sprintf("PodDisruptionBudget %s allows no disruption", b.Name)}
	}
	// After that time, the budget knows whether they are ready.
	crowd := Crowd{Pods: b.Pods(), Most: b.Allowed, Within: t.Settings.Unready, Now: t.Now}
	places, next := crowd.Places(t.Pod)
	if places == 0 {
		return Wait{contract.DisruptionBudget, fmt.Sprintf("PodDisruptionBudget %s allows disruptions (%d), but as many of its pods have just got smaller sizes, the first until %s",
			b.Name, b.Allowed, next.UTC().Format(time.RFC3339)), crowd.Again(t.Pod, next)}
	}
	t.claim(Group{t.Pod.Namespace(), Workload{"PodDisruptionBudget", b.Name}}, places)
	return Wait{}
}

// claim claims a place in a group, unless there are places for all.
func (t *Turn) claim(group Group, places int) {
	if places == Unlimited {
		return
	}
	for i := range t.Claims {
		if claim := &t.Claims[i]; claim.Group == group {
			claim.Places = min(claim.Places, places)
			return
		}
	}
	t.Claims = append(t.Claims, Claim{group, places})
}
