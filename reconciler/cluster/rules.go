package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Rules are the inputs of plans that users control.
type Rules struct {
	Table *ratios.Table
	Holds *hold.Table
}

// Rules returns the rules in effect; false while they are unknown.
func (c *Cluster) Rules() (Rules, bool) {
	holds, err := c.Holds.Ready()
	table := c.Ratios.Table()
	return Rules{table, holds}, err == nil && table != nil
}

// proven returns when the last resize of a pod has proven itself: immediately, unless it is observed.
func (r Rules) proven(of *pod.Pod) time.Time {
	settings := &r.Table.Profile(of).Guard
	if !settings.Enabled {
		return guard.Until(of, 0)
	}
	return guard.Until(of, settings.Window)
}

// MayAffect returns the pods whose plans may differ under the new rules. It does not
// look at the pods, so it may return pods whose plans stay the same. It omits no pod
// whose plan differs.
func (c *Cluster) MayAffect(before, now Rules) []*pod.Pod {
	if before.Table != nil && before.Holds == now.Holds && before.Table.MatchesAs(now.Table) {
		return c.onNodesOtherwise(before.Table, now.Table)
	}
	return c.pods.Pods("").List()
}

// onNodesOtherwise returns the pods on all nodes where two tables may give a pod different sizes.
// A pod whose node is unknown is planned when its node appears.
func (c *Cluster) onNodesOtherwise(before, now *ratios.Table) (pods []*pod.Pod) {
	for _, node := range all(c.nodes.List) {
		if c.saysOtherwise(node, before, now) {
			pods = append(pods, c.pods.On(node.Name)...)
		}
	}
	return pods
}

func (c *Cluster) saysOtherwise(node *corev1.Node, before, now *ratios.Table) bool {
	profiles := now.Profiles()
	for i, profile := range before.Profiles() {
		a, b := c.Planner.RuleBy(profile, node, ""), c.Planner.RuleBy(profiles[i], node, "")
		if !a.SizesAs(&b) {
			return true
		}
	}
	return false
}

// Affects reports whether the new rules apply differently to a pod than the rules before.
func (c *Cluster) Affects(of *pod.Pod, before, now Rules) bool {
	if before.Holds != now.Holds && (isFrozen(before) != isFrozen(now) || c.heldOtherwise(of, before.Holds, now.Holds)) {
		return true
	}
	if before.Table == now.Table {
		return false
	}
	node := c.Node(of)
	a, b := c.Planner.Rule(of, node, "", before.Table), c.Planner.Rule(of, node, "", now.Table)
	return !a.SizesAs(&b)
}

func isFrozen(in Rules) bool { return in.Holds.Freeze() != nil }

// heldOtherwise reports whether the kind of hold on a pod has changed, or whether it is an emergency.
func (c *Cluster) heldOtherwise(of *pod.Pod, before, now *hold.Table) bool {
	workloads := c.owners.Chain(make([]workload.Workload, 0, 4), of) // Few pods have more than 4.
	heldBefore, _ := before.Of(of.Namespace(), of.Name, of.UID, workloads...)
	heldNow, _ := now.Of(of.Namespace(), of.Name, of.UID, workloads...)
	return heldBefore.Kind != heldNow.Kind ||
		before.Emergency(of.Namespace(), of.Name, of.UID, workloads...) != now.Emergency(of.Namespace(), of.Name, of.UID, workloads...)
}
