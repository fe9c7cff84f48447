package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Shared holds the inputs that all pods in a namespace share.
type Shared struct {
	Namespace   string
	limitRanges []*corev1.LimitRange
	quotas      []*corev1.ResourceQuota
	siblings    *siblings
	budgets     *budgets
}

// siblings remembers the pods of the last workload that was asked for: neighbors in a list of pods
// often have the same controller.
type siblings struct {
	controller types.UID
	deployment safety.Workload
	pods       []*pod.Pod
}

// of returns the pods of a pod's workload.
func (s *siblings) of(c *Cluster, of *pod.Pod) []*pod.Pod {
	uid := of.Controller().UID
	// Users may change the label from which the Deployment is derived.
	if deployment, _ := safety.DeploymentOf(of); s.controller != uid || s.deployment != deployment || s.pods == nil {
		s.controller, s.deployment, s.pods = uid, deployment, c.pods.Siblings(of)
	}
	return s.pods
}

// Shared returns the shared inputs of a namespace.
func (c *Cluster) Shared(namespace string) Shared {
	return Shared{namespace, all(c.limitRanges.LimitRanges(namespace).List), all(c.quotas.ResourceQuotas(namespace).List), &siblings{}, &budgets{}}
}

// Snapshot returns the inputs for the plan of a pod.
func (c *Cluster) Snapshot(of *pod.Pod, in Rules) *plan.Snapshot {
	return c.SnapshotIn(c.Shared(of.Namespace()), of, in)
}

// SnapshotIn is like Snapshot, with the shared inputs of the pod's namespace.
func (c *Cluster) SnapshotIn(around Shared, of *pod.Pod, in Rules) *plan.Snapshot {
	node, now, workloads := c.Node(of), c.Clock.Now(), c.owners.Chain(nil, of)
	c.answers.hear(of, node) // The cache may be ahead of its event handlers.
	infeasible, until := c.answers.of(node, of, now)
	s := &plan.Snapshot{
		Pod:       of,
		Workloads: workloads,
		Table:     in.Table,
		Now:       now,
		Around: safety.Surroundings{
			Node:       node,
			Infeasible: infeasible,
			Neighbors:  c.reserved.neighbors(of),
			Kept: func() safety.Resources {
				room, _ := c.reserved.kept(of, in.observed, now)
				return room
			},
			LimitRanges: around.limitRanges,
			Quotas:      around.quotas,
		},
		Autoscalers: func() []*autoscalingv2.HorizontalPodAutoscaler { return c.autoscalersOf(of.Namespace(), workloads) },
		Siblings:    func() []*pod.Pod { return around.siblings.of(c, of) },
		NodeOf:      c.Node,
		Budgets:     func() []plan.Budget { return around.budgets.of(c, of) },
		VPA:         c.vpas.of(of.Namespace(), workloads),

		InfeasibleUntil: until,
		KeptUntil: func() time.Time {
			_, until := c.reserved.kept(of, in.observed, now)
			return until
		},
	}
	if c.signals != nil {
		s.Signals = c.signals(of)
	}
	s.Refused = c.refused(of.NamespacedName(), of.UID, now)
	s.Failed = c.failed(of)
	if f := in.Holds.Freeze(); f != nil {
		s.Frozen = frozenText(f)
	}
	if h, ok := in.Holds.Of(of.Namespace(), of.Name, of.UID, workloads...); ok {
		switch h.Kind {
		case hold.Restore:
			s.Restore, s.Emergency = true, in.Holds.Emergency(of.Namespace(), of.Name, of.UID, workloads...)
		case hold.Pause:
			s.Paused = fmt.Sprintf("the pause of %s began at %s: %s", h.Scope, h.Since.UTC().Format(time.RFC3339), orNothing(h.Reason))
		case hold.Breaker:
			s.Degraded = fmt.Sprintf("the breaker of %s opened at %s: %s", h.Scope, h.Since.UTC().Format(time.RFC3339), orNothing(h.Reason))
		}
	}
	return s
}

func frozenText(f *hold.Freeze) string {
	by := ""
	if f.Author != "" {
		by = " by " + f.Author
	}
	return fmt.Sprintf("the cluster was frozen at %s%s: %s", f.Since.UTC().Format(time.RFC3339), by, orNothing(f.Reason))
}

func orNothing(reason string) string {
	if reason == "" {
		return "no reason given"
	}
	return reason
}

// all returns everything that a lister lists. A lister over a cache returns no error.
func all[T any](list func(labels.Selector) ([]T, error)) []T {
	items, err := list(labels.Everything())
	if err != nil {
		panic(fmt.Sprintf("cluster: list from the cache: %v", err))
	}
	return items
}

// autoscalersOf returns the HorizontalPodAutoscalers that target any of a pod's workloads, by name.
func (c *Cluster) autoscalersOf(namespace string, workloads []safety.Workload) []*autoscalingv2.HorizontalPodAutoscaler {
	var found []*autoscalingv2.HorizontalPodAutoscaler
	for _, w := range workloads {
		for _, obj := range ofTarget(c.autoscalers, namespace, w) {
			found = append(found, obj.(*autoscalingv2.HorizontalPodAutoscaler))
		}
	}
	// Plans of the same pod must be equal.
	slices.SortFunc(found, func(a, b *autoscalingv2.HorizontalPodAutoscaler) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

// Node returns the node of a pod; nil if it is unknown.
func (c *Cluster) Node(of *pod.Pod) *corev1.Node { return c.NodeNamed(of.Node()) }

// Nodes returns all nodes.
func (c *Cluster) Nodes() []*corev1.Node { return all(c.nodes.List) }

// NodeNamed returns a node; nil if it is unknown.
func (c *Cluster) NodeNamed(name string) *corev1.Node {
	node, err := c.nodes.Get(name)
	if err != nil {
		return nil // The only error of a lister is that the node does not exist.
	}
	return node
}
