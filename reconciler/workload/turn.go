package workload

import (
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
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
	// Begins means that the pod is new. Its first sizes wait only if they made other pods worse.
	Begins bool
	// All returns the pods of the workload, on all nodes, and OnNode those on the pod's node.
	All, OnNode func() []*pod.Pod
	// Limits returns the budgets that select the pod; nil if disruptions are not limited.
	Limits func() []Limit
	// Claims are the places that the pod takes.
	Claims []Claim
	// crowded is why the pod must wait for others, no matter for which size; nil if nobody has asked.
	crowded *Wait
}

// Try claims what the pod takes to get a size, or says why it must wait.
func (t *Turn) Try(container string, m *sizing.Measure, to sizing.Amount) Wait {
	if t.Begins {
		return t.Reverted(container, m, to)
	}
	places, why := t.Places(container, m, to)
	if places > 0 {
		if t.crowded == nil {
			crowded := t.crowd()
			t.crowded = &crowded
		}
		why = *t.crowded
	}
	if why.Reason == "" {
		t.claim(GroupOf(t.Pod), places)
	}
	return why
}

// crowd claims a place for the pod wherever too many pods must not have smaller sizes at the same time.
// It says why the pod must wait if there is none.
func (t *Turn) crowd() Wait {
	settings := t.Settings
	observed := func(n int, of string) string {
		return fmt.Sprintf("as many pods of the %s as guard.maxPods allows (%d) have smaller sizes that have not proven themselves", of, n)
	}
	var why Wait
	if n := settings.MaxPods; n > 0 {
		why = t.take(GroupOf(t.Pod), n, settings.Window, t.All, contract.WaitingForProof, observed(n, "workload"))
	}
	if n := settings.MaxPodsOnNode; n > 0 && why.Reason == "" {
		why = t.take(Group{"", Workload{"Node", t.Pod.Node()}}, n, settings.Window, t.OnNode, contract.WaitingForProof, observed(n, "node"))
	}
	if why.Reason != "" || !settings.DisruptionBudgets || t.Limits == nil {
		return why
	}
	return t.disrupt()
}

// disrupt claims a place in each PodDisruptionBudget of the pod.
func (t *Turn) disrupt() Wait {
	limits := t.Limits()
	if n := len(limits); n > MostBudgets {
		return Wait{Reason: contract.DisruptionBudget, Message: fmt.Sprintf("%d PodDisruptionBudgets select the pod, more than %d", n, MostBudgets)}
	}
	for _, b := range limits {
		full := fmt.Sprintf("PodDisruptionBudget %s allows no disruption", b.Name)
		if b.Allowed > 0 {
			full = fmt.Sprintf("PodDisruptionBudget %s allows disruptions (%d), but as many of its pods have just got smaller sizes", b.Name, b.Allowed)
		}
		// After that time, the budget knows whether they are ready.
		group := Group{t.Pod.Namespace(), Workload{"PodDisruptionBudget", b.Name}}
		if why := t.take(group, b.Allowed, t.Settings.Unready, b.Pods, contract.DisruptionBudget, full); why.Reason != "" {
			return why
		}
	}
	return Wait{}
}

// take claims a place in a group of which most pods may have smaller sizes within a time, or says why there is none.
func (t *Turn) take(group Group, most int, within time.Duration, pods func() []*pod.Pod, reason contract.Reason, full string) Wait {
	if most == 0 { // A budget may have very many pods.
		return Wait{Reason: reason, Message: full}
	}
	crowd := Crowd{Pods: pods(), Most: most, Within: within, Now: t.Now}
	places, next := crowd.Places(t.Pod)
	if places == 0 {
		return Wait{Reason: reason, Message: full + ", the first until " + next.UTC().Format(time.RFC3339), Again: crowd.Again(t.Pod, next)}
	}
	t.claim(group, places)
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
