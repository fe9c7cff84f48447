package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Shared holds the inputs that all pods in a namespace share.
type Shared struct {
	Namespace   string
	limitRanges []*corev1.LimitRange
	quotas      []*corev1.ResourceQuota
	siblings    *siblings
	limits      *workload.Limits
}

// siblings remembers the pods of the last workload that was asked for: neighbors in a list of pods
// often have the same.
type siblings struct {
	group workload.Group
	pods  []*pod.Pod
}

// of returns the pods of a pod's workload.
func (s *siblings) of(c *Cluster, of *pod.Pod) []*pod.Pod {
	if group := workload.GroupOf(of); s.group != group || s.pods == nil {
		s.group, s.pods = group, c.pods.Of(group)
	}
	return s.pods
}

// Shared returns the shared inputs of a namespace.
func (c *Cluster) Shared(namespace string) Shared {
	return Shared{namespace, all(c.limitRanges.LimitRanges(namespace).List), all(c.quotas.ResourceQuotas(namespace).List), &siblings{}, &workload.Limits{Members: c.members}}
}

// Snapshot returns the inputs for the plan of a pod.
func (c *Cluster) Snapshot(of *pod.Pod, in Rules) *plan.Snapshot {
	return c.SnapshotIn(c.Shared(of.Namespace()), of, in)
}

// SnapshotIn is like Snapshot, with the shared inputs of the pod's namespace.
func (c *Cluster) SnapshotIn(around Shared, of *pod.Pod, in Rules) *plan.Snapshot {
	return c.snapshot(around, of, in, false)
}

func (c *Cluster) snapshot(around Shared, of *pod.Pod, in Rules, creating bool) *plan.Snapshot {
	on, now, workloads := c.Node(of), c.Clock.Now(), c.owners.Chain(nil, of)
	c.answers.hear(of, on) // The cache may be ahead of its event handlers.
	infeasible, until := c.answers.of(on, of, now)
	s := &plan.Snapshot{
		Pod:       of,
		Workloads: workloads,
		Table:     in.Table,
		Now:       now,
		Around: safety.Surroundings{
			Room: node.Room{
				Node:      on,
				Neighbors: c.rooms.Neighbors(of),
				Kept:      func() (node.Resources, time.Time) { return c.rooms.Kept(of, in.proven, now) },
			},
			Infeasible:  infeasible,
			LimitRanges: around.limitRanges,
			Quotas:      around.quotas,
		},
		Autoscalers: func() []*autoscalingv2.HorizontalPodAutoscaler { return c.AutoscalersOf(of, workloads) },
		Siblings:    func() []*pod.Pod { return around.siblings.of(c, of) },
		NodeOf:      c.Node,
		Largest:     c.largestNode,
		Budgets:     func() []workload.Limit { return around.limits.Of(of) },
		VPA:         c.vpas.of(of.Namespace(), workloads),

		InfeasibleUntil: until,
	}
	if c.signals != nil {
		s.Signals = c.signals(of)
	}
	if c.demand != nil {
		s.Demand = c.demand(of, workloads, in.Table, creating)
	}
	s.Refused = c.refused(of.NamespacedName(), of.UID, now)
	s.Failed = c.failed(of)
	if f := in.Holds.Freeze(); f != nil {
		s.Frozen = &plan.Stop{Since: f.Since, Author: f.Author, Reason: f.Reason}
	}
	if h, ok := in.Holds.Of(of.Namespace(), of.Name, of.UID, workloads...); ok {
		switch h.Kind {
		case hold.Restore:
			s.Restore, s.Emergency = true, in.Holds.Emergency(of.Namespace(), of.Name, of.UID, workloads...)
		case hold.Pause:
			s.Paused = &plan.Stop{Scope: h.Scope.String(), Since: h.Since, Author: h.Author, Reason: h.Reason}
		case hold.Breaker:
			s.Degraded = &plan.Stop{Scope: h.Scope.String(), Since: h.Since, Author: h.Author, Reason: h.Reason}
		}
	}
	return s
}

// SnapshotOfNew returns the inputs for the plan of a pod that is being created. If the pod names its node, that is in the
// snapshot.
func (c *Cluster) SnapshotOfNew(of *pod.Pod, in Rules) *plan.Snapshot {
	s := c.snapshot(c.Shared(of.Namespace()), of, in, true)
	s.Creating, s.Budgets, s.Around.Quotas = true, nil, safety.Charged(s.Around.Quotas, of)
	return s
}

// Assume turns a snapshot into one in which another table is in effect.
func (c *Cluster) Assume(s *plan.Snapshot, table *ratios.Table) {
	s.Table = table
	if c.demand != nil {
		s.Demand = c.demand(s.Pod, s.Workloads, table, s.Creating)
	}
}

// all returns everything that a lister lists. A lister over a cache returns no error.
func all[T any](list func(labels.Selector) ([]T, error)) []T {
	items, err := list(labels.Everything())
	if err != nil {
		panic(fmt.Sprintf("cluster: list from the cache: %v", err))
	}
	return items
}

// AutoscalersOf returns the HorizontalPodAutoscalers that target any of a pod's workloads, by name.
func (c *Cluster) AutoscalersOf(of *pod.Pod, workloads []workload.Workload) []*autoscalingv2.HorizontalPodAutoscaler {
	var found []*autoscalingv2.HorizontalPodAutoscaler
	for _, w := range workloads {
		for _, obj := range ofTarget(c.autoscalers, of.Namespace(), w) {
			if hpa := obj.(*autoscalingv2.HorizontalPodAutoscaler); c.scales(hpa, of) {
				found = append(found, hpa)
			}
		}
	}
	// Plans of the same pod must be equal.
	slices.SortFunc(found, func(a, b *autoscalingv2.HorizontalPodAutoscaler) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

// KnowAutoscaler adds a HorizontalPodAutoscaler as if it had been read, for tests.
func (c *Cluster) KnowAutoscaler(hpa *autoscalingv2.HorizontalPodAutoscaler) error {
	return c.autoscalers.Add(hpa)
}

// KnowQuota adds a ResourceQuota as if it had been read, for tests.
func (c *Cluster) KnowQuota(quota *corev1.ResourceQuota) error {
	return c.factory.Core().V1().ResourceQuotas().Informer().GetIndexer().Add(quota)
}

// Node returns the node of a pod; nil if it is unknown.
func (c *Cluster) Node(of *pod.Pod) *corev1.Node { return c.NodeNamed(of.Node()) }

// Nodes returns all nodes.
func (c *Cluster) Nodes() []*corev1.Node { return all(c.nodes.List) }

// NodesRevision is a different one after any change to the labels, the taints or the size of a node, or to which nodes there are.
func (c *Cluster) NodesRevision() uint64 { return c.nodesRevision.Load() }

// largestNode returns the most of each resource that any node has for pods.
func (c *Cluster) largestNode() (largest node.Resources) {
	for _, n := range c.Nodes() {
		largest = largest.AtLeast(node.Allocatable(n))
	}
	return largest
}

// Free returns how much of each resource a node has that no pod requests.
func (c *Cluster) Free(n *corev1.Node) node.Resources {
	return node.Allocatable(n).Minus(c.rooms.Requested(n.Name))
}

// NodeNamed returns a node; nil if it is unknown.
func (c *Cluster) NodeNamed(name string) *corev1.Node {
	node, err := c.nodes.Get(name)
	if err != nil {
		return nil // The only error of a lister is that the node does not exist.
	}
	return node
}

// budgetsIn returns the budgets of a namespace, in any order.
func (c *Cluster) budgetsIn(namespace string) []*workload.Budget {
	found := byIndex(c.budgets, cache.NamespaceIndex, namespace)
	all := make([]*workload.Budget, len(found))
	for i, obj := range found {
		all[i] = obj.(*workload.Budget)
	}
	return all
}
