package reconciler

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// snapshot gathers what the plan of a pod is made from.
func (r *Reconciler) snapshot(pod *corev1.Pod, in rules) *Snapshot {
	s := &Snapshot{
		Pod:   pod,
		Table: in.table,
		Around: safety.Surroundings{
			Node:        r.node(pod),
			Neighbours:  r.usage.neighbours(pod),
			LimitRanges: all(r.limitRanges.LimitRanges(pod.Namespace).List),
			Quotas:      all(r.quotas.ResourceQuotas(pod.Namespace).List),
		},
		Autoscalers: func() []*autoscalingv2.HorizontalPodAutoscaler { return r.autoscalersOf(pod) },
		VPA:         r.vpas.of(pod),
	}
	s.Refused, _ = r.ledger.refusal(nameOf(pod), pod.UID, r.clock.Now())
	if h, ok := in.holds.Of(pod.Namespace, pod.Name, pod.UID); ok {
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

// autoscalersOf are the HorizontalPodAutoscalers on the pod's workload.
func (r *Reconciler) autoscalersOf(pod *corev1.Pod) []*autoscalingv2.HorizontalPodAutoscaler {
	var found []*autoscalingv2.HorizontalPodAutoscaler
	for _, hpa := range all(r.autoscalers.HorizontalPodAutoscalers(pod.Namespace).List) {
		if safety.Targets(hpa.Spec.ScaleTargetRef.Kind, hpa.Spec.ScaleTargetRef.Name, pod) {
			found = append(found, hpa)
		}
	}
	return found
}

// node returns the node of a pod, nil if it is not known.
func (r *Reconciler) node(pod *corev1.Pod) *corev1.Node {
	if pod.Spec.NodeName == "" {
		return nil
	}
	node, err := r.nodes.Get(pod.Spec.NodeName)
	if err != nil {
		return nil
	}
	return node
}
