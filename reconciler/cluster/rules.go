package cluster

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Rules are what people have said of pods' sizes.
type Rules struct {
	Table *ratios.Table
	Holds *hold.Table
}

// Rules returns what is in force; false while it is not known.
func (c *Cluster) Rules() (Rules, bool) {
	holds, err := c.Holds.Ready()
	table := c.Ratios.Table()
	return Rules{table, holds}, err == nil && table != nil
}

// MayAffect are the pods of which rules may say something else than those before, as few as
// is known without looking at them: of all others, both say the same.
func (c *Cluster) MayAffect(before, now Rules) []*pod.Pod {
	if before.Table != nil && before.Holds == now.Holds && before.Table.MatchesAs(now.Table) {
		return c.onNodesOtherwise(before.Table, now.Table)
	}
	return c.pods.Pods("").List()
}

// onNodesOtherwise are the pods of nodes for which two tables say something else, to
// whatever pod. A pod whose node is not known waits for that.
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

// Affects reports whether rules say something else of a pod than those before.
func (c *Cluster) Affects(of *pod.Pod, before, now Rules) bool {
	if before.Holds != now.Holds && c.heldOtherwise(of, before.Holds, now.Holds) {
		return true
	}
	if before.Table == now.Table {
		return false
	}
	node := c.Node(of)
	a, b := c.Planner.Rule(of, node, "", before.Table), c.Planner.Rule(of, node, "", now.Table)
	return !a.SizesAs(&b)
}

// heldOtherwise tells whether holds say something else of a pod than before.
func (c *Cluster) heldOtherwise(of *pod.Pod, before, now *hold.Table) bool {
	workloads := c.owners.Chain(make([]safety.Workload, 0, 4), of) // Few have more.
	heldBefore, _ := before.Of(of.Namespace(), of.Name, of.UID, workloads...)
	heldNow, _ := now.Of(of.Namespace(), of.Name, of.UID, workloads...)
	return heldBefore.Kind != heldNow.Kind
}
