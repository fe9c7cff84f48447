package reconciler

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// shared is what all pods of a namespace share.
type shared struct {
	namespace   string
	limitRanges []*corev1.LimitRange
	quotas      []*corev1.ResourceQuota
}

func (r *Reconciler) shared(namespace string) shared {
	return shared{namespace, all(r.limitRanges.LimitRanges(namespace).List), all(r.quotas.ResourceQuotas(namespace).List)}
}

// snapshot gathers what the plan of a pod is made from.
func (r *Reconciler) snapshot(of *pod.Pod, in rules) *plan.Snapshot {
	return r.snapshotIn(r.shared(of.Namespace()), of, in)
}

func (r *Reconciler) snapshotIn(around shared, of *pod.Pod, in rules) *plan.Snapshot {
	node, now, workloads := r.node(of), r.clock.Now(), r.owners.Chain(nil, of)
	r.answers.hear(of, node) // The cache may be ahead of what is told of its changes.
	infeasible, until := r.answers.of(node, of, now)
	s := &plan.Snapshot{
		Pod:       of,
		Workloads: workloads,
		Table:     in.table,
		Now:       now,
		Around: safety.Surroundings{
			Node:        node,
			Infeasible:  infeasible,
			Neighbours:  r.usage.neighbours(of),
			LimitRanges: around.limitRanges,
			Quotas:      around.quotas,
		},
		Autoscalers: func() []*autoscalingv2.HorizontalPodAutoscaler { return r.autoscalersOf(of.Namespace(), workloads) },
		VPA:         r.vpas.of(of.Namespace(), workloads),

		InfeasibleUntil: until,
	}
	s.Refused, _ = r.ledger.refusal(of.NamespacedName(), of.UID, now)
	if h, ok := in.holds.Of(of.Namespace(), of.Name, of.UID, workloads...); ok {
		switch h.Kind {
		case hold.Restore:
			s.Restore = true
		case hold.Pause:
			s.Paused = fmt.Sprintf("%s is paused since %s: %s", h.Scope, h.Since.UTC().Format(timeFormat), orNothing(h.Reason))
		}
	}
	return s
}

const timeFormat = "2006-01-02T15:04:05Z"

func orNothing(reason string) string {
	if reason == "" {
		return "no reason was given"
	}
	return reason
}

// all lists everything of a namespace; a lister over a cache gives no error.
func all[T any](list func(labels.Selector) ([]T, error)) []T {
	items, err := list(labels.Everything())
	if err != nil {
		panic(fmt.Sprintf("reconciler: list from the cache: %v", err))
	}
	return items
}

// autoscalersOf are the HorizontalPodAutoscalers on any of a pod's workloads.
func (r *Reconciler) autoscalersOf(namespace string, workloads []safety.Workload) []*autoscalingv2.HorizontalPodAutoscaler {
	var found []*autoscalingv2.HorizontalPodAutoscaler
	for _, hpa := range all(r.autoscalers.HorizontalPodAutoscalers(namespace).List) {
		target := safety.Workload{Kind: hpa.Spec.ScaleTargetRef.Kind, Name: hpa.Spec.ScaleTargetRef.Name}
		if slices.Contains(workloads, target) {
			found = append(found, hpa)
		}
	}
	return found
}

// node returns the node of a pod, nil if it is not known.
func (r *Reconciler) node(of *pod.Pod) *corev1.Node {
	if of.Node() == "" {
		return nil
	}
	node, err := r.nodes.Get(of.Node())
	if err != nil {
		return nil
	}
	return node
}
