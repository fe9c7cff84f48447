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
	// told is what was said of the pod last, of a skip or a failure.
	told Reason
	// wrote is the resource version of our last write, and wroteAt its time.
	// Until the cache shows it, the cache shows less than we know.
	wrote   string
	wroteAt time.Time
	// done is the plan that was carried out last.
	done string
	// tried is the plan that the pod is not to be bothered with again before
	// retry, after so many times in a row.
	tried string
	times int
	retry time.Time
}

func newLedger(m *metrics) *ledger {
	return &ledger{pods: map[types.NamespacedName]*entry{}, metrics: m}
}

// of returns the entry of a pod, a new one if another pod had the name before.
func (l *ledger) of(pod types.NamespacedName, uid types.UID) *entry {
	e := l.pods[pod]
	if e == nil || e.uid != uid {
		l.drop(pod)
		e = &entry{uid: uid, decision: -1}
		l.pods[pod] = e
	}
	return e
}

// forget drops a pod that is gone.
func (l *ledger) forget(pod types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(pod)
}

func (l *ledger) drop(pod types.NamespacedName) {
	if e := l.pods[pod]; e != nil {
		l.count(e, -1)
		delete(l.pods, pod)
	}
}

func (l *ledger) count(e *entry, by float64) {
	if e.decision >= 0 {
		l.metrics.pods.WithLabelValues(e.decision.String(), string(e.reason)).Add(by)
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
	e := l.of(plan.Pod, plan.UID)
	if e.decision == plan.Decision && e.reason == reason {
		return
	}
	l.count(e, -1)
	e.decision, e.reason = plan.Decision, reason
	e.told = Reason{} // What is said from here on is news.
	l.count(e, 1)
}

// news takes note of what is said of a pod, and tells whether it was not what
// was said last.
func (l *ledger) news(pod types.NamespacedName, uid types.UID, said Reason) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(pod, uid)
	if e.told == said {
		return false
	}
	e.told = said
	return true
}

// trusted is how long a write of ours counts for more than the cache. Should
// resource versions ever go backwards, as after a restore of the API server's
// store from a backup, a pod is not ignored for longer.
const trusted = time.Minute

// stale tells whether the cached pod is older than our own last write to it.
func (l *ledger) stale(pod types.NamespacedName, uid types.UID, resourceVersion string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(pod, uid)
	if e.wrote == "" || now.Sub(e.wroteAt) > trusted {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(resourceVersion, e.wrote)
	return err == nil && order < 0
}

// Pauses after a plan that failed, or that had to be carried out again: the
// first, and what they grow to by doubling.
const (
	firstPause = 500 * time.Millisecond
	longPause  = 5 * time.Minute
)

// succeeded takes note that a plan was carried out. Where it is the same plan as
// the last time, somebody undid it: it must not be fought over at full speed.
func (l *ledger) succeeded(plan *Plan, resourceVersion string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(plan.Pod, plan.UID)
	e.wrote, e.wroteAt = resourceVersion, now
	signature := plan.signature()
	if e.done == signature {
		e.backOff(signature, now)
		return
	}
	e.done, e.tried, e.times, e.retry = signature, "", 0, time.Time{}
}

// failed takes note that a plan could not be carried out, and returns how long
// to let the pod be.
func (l *ledger) failed(plan *Plan, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(plan.Pod, plan.UID).backOff(plan.signature(), now)
}

// backOff makes the pause after a plan twice as long as after the time before.
func (e *entry) backOff(signature string, now time.Time) time.Duration {
	if e.tried != signature {
		e.tried, e.times = signature, 0
	}
	pause := longPause
	if e.times < 10 {
		pause = min(longPause, firstPause<<e.times)
	}
	e.times++
	e.retry = now.Add(pause)
	return pause
}

// pause returns how long a pod is still to be let be. Another plan than the one
// that was tried is a new case.
func (l *ledger) pause(plan *Plan, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(plan.Pod, plan.UID)
	if e.tried == "" || e.tried != plan.signature() {
		return 0
	}
	return max(0, e.retry.Sub(now))
}
