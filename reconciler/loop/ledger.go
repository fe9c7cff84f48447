package loop

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// ledger remembers of every pod what was decided and done last, so that nothing
// is said or tried twice while nothing changes. Losing it, as a restart does,
// loses no state of the cluster.
type ledger struct {
	mu   sync.Mutex
	pods map[types.NamespacedName]*entry
	// waiting are the pods that are left alone until something around them
	// changes.
	waiting map[waitingFor]map[types.NamespacedName]struct{}
	// counts are the pods by what was decided last.
	counts map[verdict]int
	// total is what all pods request less or more than their authors asked for.
	total   difference
	metrics *metrics
}

// verdict is what was decided of a pod, and the first reason.
type verdict struct {
	decision plan.Decision
	reason   contract.Reason
}

// entry is what is remembered of one pod.
type entry struct {
	uid      types.UID
	decision plan.Decision
	reason   contract.Reason
	// node is where the pod runs, in what it was planned with.
	node string
	in   cluster.Rules
	// differs is what the pod has in the total.
	differs difference
	// needed is since when a pod that was never sized needs other sizes; zero if
	// it does not.
	needed time.Time
	// told is what was said of the pod last, of a skip, a failure or the
	// node's progress.
	told plan.Reason
	// wrote is the resource version of our last write, and wroteAt its time.
	// Until the cache shows it, the cache shows less than we know.
	wrote   string
	wroteAt time.Time
	// resizedAt is when the resize was written that the node is not known to
	// be done with; zero if there is none.
	resizedAt time.Time
	// accepted tells that it gave the pod the sizes of its plan.
	accepted bool
	// done is the signature of the plan that was carried out last; 0 if none was.
	done uint64
	// trouble is nil for a pod that has had none.
	trouble *trouble
}

// trouble is what went wrong with a pod.
type trouble struct {
	// undone are the pauses after a plan that had to be carried out again, failed those
	// after one that failed.
	undone, failed backOff
	// refused is what the node refused last and refusedAt when, and refusals are the
	// pauses before it is asked for anything else.
	refused   *plan.Refusal
	refusedAt time.Time
	refusals  backOff
}

var noTrouble trouble

// had is the trouble that there was, not to be written to.
func (e *entry) had() *trouble {
	if e.trouble == nil {
		return &noTrouble
	}
	return e.trouble
}

// has is the trouble that there is, to be written to.
func (e *entry) has() *trouble {
	if e.trouble == nil {
		e.trouble = &trouble{}
	}
	return e.trouble
}

func newLedger(m *metrics) *ledger {
	return &ledger{
		pods:    map[types.NamespacedName]*entry{},
		waiting: map[waitingFor]map[types.NamespacedName]struct{}{},
		counts:  map[verdict]int{},
		metrics: m,
	}
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
		l.count(pod, e, -1)
		l.total.replace(e.differs, difference{})
		delete(l.pods, pod)
	}
}

// beginAnew forgets what was said and done: another process may have said and
// done more since. What was decided is kept, and what our last writes were, which
// the cache may be behind; so is what nodes refused, which is not to be tried again
// for a change of leaders, and since when pods wait for their first sizes.
func (l *ledger) beginAnew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.pods {
		refused := e.had()
		*e = entry{uid: e.uid, decision: e.decision, reason: e.reason, node: e.node, in: e.in, differs: e.differs, needed: e.needed, wrote: e.wrote, wroteAt: e.wroteAt}
		if refused.refused != nil {
			e.trouble = &trouble{refused: refused.refused, refusedAt: refused.refusedAt, refusals: refused.refusals}
		}
	}
}

// count takes a pod into account (1), or no longer (-1).
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
	switch plan.Waits(e.reason) {
	case plan.Nowhere:
		return
	case plan.InNamespace:
		key.place = pod.Namespace
	case plan.OnNode:
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

// waitingFor is a reason to be left alone, and the namespace or node where
// things have to change.
type waitingFor struct {
	reason contract.Reason
	place  string
}

// planned takes note of a plan, of what it was made with, of what the pod requests
// less or more than its author asked for, and since when it waited to be planned.
func (l *ledger) planned(p *plan.Plan, in cluster.Rules, differs difference, queued time.Time) {
	reason := contract.Reason("")
	if p.Decision != plan.Resize || p.Kind != plan.Sizes {
		reason = p.Reasons[0].Code
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(p.Pod, p.UID)
	e.in = in
	l.total.replace(e.differs, differs)
	e.differs = differs
	switch first := p.Decision == plan.Resize && p.Kind == plan.Sizes && p.First(); {
	case !first:
		e.needed = time.Time{}
	case e.needed.IsZero():
		e.needed = queued
	}
	if e.decision == p.Decision && e.reason == reason && e.node == p.Node {
		return
	}
	if e.reason != reason || reason == "" {
		e.told = plan.Reason{} // What is said from here on is news.
	}
	l.count(p.Pod, e, -1)
	e.decision, e.reason, e.node = p.Decision, reason, p.Node
	l.count(p.Pod, e, 1)
}

// plannedWith returns what the last plan of the pod was made with; false if there
// was none.
func (l *ledger) plannedWith(pod types.NamespacedName) (cluster.Rules, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.pods[pod]
	if e == nil {
		return cluster.Rules{}, false
	}
	return e.in, e.in.Table != nil
}

// unaffected takes note that other rules say the same of a pod as those that it
// was planned with, so that these need not be kept.
func (l *ledger) unaffected(pod types.NamespacedName, before, now cluster.Rules) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.pods[pod]; e != nil && e.in == before {
		e.in = now
	}
}

// allUnaffected is unaffected of all pods but some. Without it, rules of long ago would be
// kept for each pod that is not planned again.
func (l *ledger) allUnaffected(before, now cluster.Rules, but map[types.NamespacedName]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for pod, e := range l.pods {
		if e.in == before && !but[pod] {
			e.in = now
		}
	}
}

// held returns the pods that were last left alone for one of these reasons, in
// the namespace or on the node.
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

// awaits tells whether a resize was written that the node is not known to be done
// with.
func (l *ledger) awaits(pod types.NamespacedName) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.pods[pod]
	return e != nil && !e.resizedAt.IsZero()
}

// news takes note of what is said of a pod, and tells whether it was not what
// was said last.
func (l *ledger) news(pod types.NamespacedName, uid types.UID, said plan.Reason) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(pod, uid)
	if e.told == said || e.told.Code == said.Code && restless(said.Code) {
		return false
	}
	e.told = said
	return true
}

// restless tells the reasons whose particulars change with every pod around:
// these are no news.
func restless(code contract.Reason) bool {
	switch code {
	case contract.ResizeDeferred, contract.ResizeInProgress, contract.NodeCapacity, contract.QuotaExceeded:
		return true
	}
	return false
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

// succeeded takes note that a plan was carried out. Where it is the same plan as
// the last time, somebody undid it: it must not be fought over at full speed.
func (l *ledger) succeeded(p *plan.Plan, resourceVersion string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(p.Pod, p.UID)
	e.wrote, e.wroteAt = resourceVersion, now
	if e.trouble != nil {
		e.trouble.failed = backOff{}
	}
	if !e.needed.IsZero() && p.Partial == "" {
		l.metrics.settling.Observe(now.Sub(e.needed).Seconds())
		e.needed = time.Time{}
	}
	if p.Decision == plan.Resize {
		e.resizedAt, e.accepted = now, p.Kind == plan.Sizes
	}
	if signature := p.Signature(); e.done == signature {
		e.has().undone.longer(now, firstPause, longPause)
	} else {
		e.done = signature
		if e.trouble != nil {
			e.trouble.undone = backOff{}
		}
	}
	if p.Kind == plan.PutBack {
		e.refuse(p, now)
	}
}

// actuated takes note that the node is done with the last resize, and returns
// how long that took; false if none was waited for.
func (l *ledger) actuated(pod types.NamespacedName, uid types.UID, now time.Time) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(pod, uid)
	if e.resizedAt.IsZero() {
		return 0, false
	}
	took := now.Sub(e.resizedAt)
	e.resizedAt = time.Time{}
	if e.accepted && e.trouble != nil {
		e.trouble.refused = nil // The node may give again what it refused before.
	}
	return took, true
}

// attempted takes note that a plan could not be carried out, and returns how
// long to let the pod be: asked is how long the API server wants, 0 if it does
// not say.
func (l *ledger) attempted(p *plan.Plan, asked time.Duration, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(p.Pod, p.UID)
	failed := &e.has().failed
	failed.of(p.Signature())
	failed.longer(now, max(asked, firstPause), max(asked, longPause))
	return failed.left(now)
}

// pause returns how long a pod is still to be let be. Another plan than the one
// that was tried is a new case.
func (l *ledger) pause(p *plan.Plan, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(p.Pod, p.UID)
	signature, pause := p.Signature(), time.Duration(0)
	if failed := &e.had().failed; failed.what == signature {
		pause = failed.left(now)
	}
	if e.done == signature {
		pause = max(pause, e.had().undone.left(now))
	}
	return pause
}
