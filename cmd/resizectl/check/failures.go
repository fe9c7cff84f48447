package check

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// recent is how long ago a resize may have failed to count: the API server keeps events for an hour by
// default.
const recent = 10 * time.Minute

// failures checks whether resizes fail. The server does not say so, since it retries them; their events
// do.
func (s *subject) failures(ctx context.Context) []Result {
	const check = "failed-resizes"
	found, err := s.kube.CoreV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("reason", string(contract.ResizeFailed)).String(),
	})
	if err != nil {
		return []Result{unknown(check, "the events of resizes that failed", err)}
	}
	var pods []string
	var newest *corev1.Event
	for i := range found.Items {
		e := &found.Items[i]
		if s.now.Sub(seen(e)) > recent {
			continue
		}
		pods = append(pods, e.InvolvedObject.Namespace+"/"+e.InvolvedObject.Name)
		if newest == nil || seen(e).After(seen(newest)) {
			newest = e
		}
	}
	if newest == nil {
		return []Result{ok(check, "no resize failed in the last %s", print.CountOf(int64(recent/time.Minute), "minute"))}
	}
	slices.Sort(pods)
	pods = slices.Compact(pods)
	return []Result{warning(check, aboutReason(contract.ResizeFailed, nil)+" (docs/reference/alerts.md#workloadresizerresizesfailing)",
		"resizes of %s failed in the last %s: %s; the newest: %s", count(len(pods), "pod"), print.CountOf(int64(recent/time.Minute), "minute"), some(pods), newest.Message)}
}

// seen returns when an event was last seen, whichever API it was created with.
func seen(e *corev1.Event) time.Time {
	last := e.LastTimestamp.Time
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	if e.EventTime.After(last) {
		last = e.EventTime.Time
	}
	return last
}
