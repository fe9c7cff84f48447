package reconciler

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// ledger remembers of every pod what was decided and done last, so that nothing
// is said or tried twice while nothing changes. Losing it, as a restart does,
// loses no state of the cluster.
type ledger struct {
	mu      sync.Mutex
	pods    map[types.NamespacedName]*entry
	metrics *metrics
}

// entry is what is remembered of one pod.
type entry struct {
	uid      types.UID
	decision Decision
	reason   contract.Reason
	// told is what was said of the pod last.
	told Reason
	// wrote is the resource version of our last write. Until the cache
	// shows it, the cache shows less than we know.
	wrote string
	// failures in a row, and until when the pod is let be after them.
	failures int
	retry    time.Time
}

func newLedger(m *metrics) *ledger {
	return &ledger{pods: map[types.NamespacedName]*entry{}, metrics: m}
}

// of returns the entry of a pod, a new one if another pod had the name before.
func (l *ledger) of(pod types.NamespacedName, uid types.UID) *entry {
	r := l.pods[pod]
	if r == nil || r.uid != uid {
		l.drop(pod)
		r = &entry{uid: uid, decision: -1}
		l.pods[pod] = r
	}
	return r
}

// forget drops a pod that is gone.
func (l *ledger) forget(pod types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(pod)
}

func (l *ledger) drop(pod types.NamespacedName) {
	if r := l.pods[pod]; r != nil {
		l.count(r, -1)
		delete(l.pods, pod)
	}
}

func (l *ledger) count(r *entry, by float64) {
	if r.decision >= 0 {
		l.metrics.pods.WithLabelValues(r.decision.String(), string(r.reason)).Add(by)
	}
}

// planned takes note of a plan.
func (l *ledger) planned(plan *Plan) {
	reason := contract.Reason("")
	if plan.Decision != Resize {
		reason = plan.Reasons[0].Code
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(plan.Pod, plan.UID)
	if r.decision == plan.Decision && r.reason == reason {
		return
	}
	l.count(r, -1)
	r.decision, r.reason = plan.Decision, reason
	l.count(r, 1)
}

// news takes note of what is said of a pod, and tells whether it was not what
// was said last.
func (l *ledger) news(pod types.NamespacedName, uid types.UID, said Reason) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(pod, uid)
	if r.told == said {
		return false
	}
	r.told = said
	return true
}

// stale tells whether the cached pod is older than our own last write to it.
func (l *ledger) stale(pod types.NamespacedName, uid types.UID, resourceVersion string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(pod, uid)
	if r.wrote == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(resourceVersion, r.wrote)
	return err == nil && order < 0
}

// wrote takes note of a success.
func (l *ledger) wrote(pod types.NamespacedName, uid types.UID, resourceVersion string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(pod, uid)
	r.wrote, r.failures, r.retry = resourceVersion, 0, time.Time{}
}

// Pauses after a failure: the first, and what they grow to by doubling.
const (
	firstPause = 500 * time.Millisecond
	longPause  = 5 * time.Minute
)

// failed takes note of a failure and returns how long to let the pod be.
func (l *ledger) failed(pod types.NamespacedName, uid types.UID, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(pod, uid)
	pause := longPause
	if r.failures < 10 {
		pause = min(longPause, firstPause<<r.failures)
	}
	r.failures++
	r.retry = now.Add(pause)
	return pause
}

// pause returns how long a pod is still to be let be.
func (l *ledger) pause(pod types.NamespacedName, uid types.UID, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.of(pod, uid).retry.Sub(now))
}
