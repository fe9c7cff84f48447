package loop

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// waitingFor is a reason not to resize pods, and the namespace or node that has to change.
type waitingFor struct {
	reason contract.Reason
	place  string
}

// count adds a pod to the counts (1) or removes it (-1).
func (l *ledger) count(pod types.NamespacedName, e *entry, by int) {
	if e.decision < 0 {
		return
	}
	l.metrics.pods.WithLabelValues(e.decision.String(), string(e.reason)).Add(float64(by))
	decided := verdict{e.decision, e.reason}
	if l.counts[decided] += by; l.counts[decided] == 0 {
		delete(l.counts, decided)
	}
	key := waitingFor{reason: e.reason}
	switch e.reason.Traits().Waits {
	case contract.Nowhere:
		return
	case contract.InNamespace:
		key.place = pod.Namespace
	case contract.OnNode:
		key.place = e.node
	}
	pods := l.waiting[key]
	switch {
	case by < 0:
		delete(pods, pod)
		if len(pods) == 0 {
			delete(l.waiting, key)
		}
	case pods == nil:
		l.waiting[key] = map[types.NamespacedName]struct{}{pod: {}}
	default:
		pods[pod] = struct{}{}
	}
}

// held returns the pods in the namespace or on the node that were last not resized for
// one of these reasons.
func (l *ledger) held(place string, reasons ...contract.Reason) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	var pods []types.NamespacedName
	for _, reason := range reasons {
		for pod := range l.waiting[waitingFor{reason, place}] {
			pods = append(pods, pod)
		}
	}
	return pods
}
