package loop

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// ledger remembers the last decision and write for every pod, so that nothing is reported
// or tried twice while nothing changes. Losing it, as in a restart, loses no state of the
// cluster.
type ledger struct {
	mu   sync.Mutex
	pods map[types.NamespacedName]*entry
	// waiting has the pods that are not resized until something around them changes.
	waiting map[waitingFor]map[types.NamespacedName]struct{}
	// counts is the number of pods by their last decision.
	counts map[verdict]int
	// total is the difference between the requests of all pods and their originals.
	total   difference
	metrics *metrics
}

// verdict is the decision on a pod, and its first reason.
type verdict struct {
	decision plan.Decision
	reason   contract.Reason
}

// entry is the memory of one pod.
type entry struct {
	uid      types.UID
	decision plan.Decision
	reason   contract.Reason
	// node is the node of the pod, and in has the rules, in its last plan.
	node string
	in   cluster.Rules
	// differs is the pod's share of the total.
	differs difference
	// needed is when a pod that was never sized was first seen to need a different
	// size; zero if it does not need one.
	needed time.Time
	// told is the last report on the pod: a skip, a failure or the node's progress.
	told plan.Reason
	// wrote is the resource version of our last write, and wroteAt its time. Until
	// the cache has that version, the cache is outdated.
	wrote   string
	wroteAt time.Time
	// resizedAt is the time of the last resize if the node has not been seen to
	// complete it; zero otherwise.
	resizedAt time.Time
	// accepted reports whether that resize gave the pod the sizes of its plan.
	accepted bool
	// done is the signature of the last executed plan; 0 if there is none.
	done uint64
	// trouble is nil for a pod without any.
	trouble *trouble
}

// trouble records what went wrong with a pod.
type trouble struct {
	// undone is the delay after a plan that had to be executed again, failed the
	// delay after a plan that failed.
	undone, failed backOff
	// outdated is the version of the pod that a plan was made from that failed because the pod had changed since; empty
	// if the last plan failed for a different reason.
	outdated string
	// failure is what the plan met that failed; zero if the API server gave no answer. warned is
	// the last warning since then, while the pod has had no plan but that and the node's progress.
	failure, warned plan.Reason
	// ignored are the last reports on annotations since the last write that succeeded, at most mostIgnored.
	ignored []plan.Reason
	// refused is the last refusal of the node and refusedAt its time. refusals is
	// the delay before the next attempt that needs more than the pod has.
	refused   *plan.Refusal
	refusedAt time.Time
	refusals  backOff
}

var noTrouble trouble

// had returns the trouble of a pod for reading.
func (e *entry) had() *trouble {
	if e.trouble == nil {
		return &noTrouble
	}
	return e.trouble
}

// has returns the trouble of a pod for writing.
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

// of returns the entry of a pod; a new entry if another pod had the name before.
func (l *ledger) of(pod types.NamespacedName, uid types.UID) *entry {
	e := l.pods[pod]
	if e == nil || e.uid != uid {
		l.drop(pod)
		e = &entry{uid: uid, decision: -1}
		l.pods[pod] = e
	}
	return e
}

// forget drops a deleted pod.
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

// startOver forgets reports and results, because another process may have reported and
// done more since. It keeps:
//
//   - decisions,
//   - our last writes, because the cache may lag behind them,
//   - what nodes refused, because a change of leaders is no reason to try it again,
//   - when pods began to wait for their first size.
func (l *ledger) startOver() {
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

// planned records a plan, its rules, the difference between the pod's requests and its
// originals, and when the pod was queued.
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
	case e.needed.IsZero() && !p.Paced(): // Older pods wait on purpose.
		e.needed = queued
	}
	if e.decision == p.Decision && e.reason == reason && e.node == p.Node {
		return
	}
	if (e.reason != reason || reason == "") && reason != e.told.Code && !e.repeats(p) {
		e.told = plan.Reason{} // The next report is new.
		if e.trouble != nil && reason != e.trouble.warned.Code && reason.Traits().Urgency == 0 {
			e.trouble.warned = plan.Reason{} // The pod is no longer in the same trouble.
		}
	}
	l.count(p.Pod, e, -1)
	e.decision, e.reason, e.node = p.Decision, reason, p.Node
	l.count(p.Pod, e, 1)
}

// repeats reports whether a plan failed before, so that the same failure is not new.
func (e *entry) repeats(p *plan.Plan) bool {
	return e.had().failure != (plan.Reason{}) && e.trouble.failed.what == p.Signature()
}

// plannedWith returns the rules of the pod's last plan; false if there was none.
func (l *ledger) plannedWith(pod types.NamespacedName) (cluster.Rules, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.pods[pod]
	if e == nil {
		return cluster.Rules{}, false
	}
	return e.in, e.in.Table != nil
}

// unaffected records that new rules are equivalent, for a pod, to the rules of its last
// plan, so that the old rules are not kept in memory.
func (l *ledger) unaffected(pod types.NamespacedName, before, now cluster.Rules) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.pods[pod]; e != nil && e.in == before {
		e.in = now
	}
}

// allUnaffected calls unaffected for all pods except some. Otherwise, pods that are not
// planned again would keep outdated rules in memory.
//
// It returns the pods that were planned with neither of the rules, but with rules that
// were in effect only in between: whether they are affected is unknown.
func (l *ledger) allUnaffected(before, now cluster.Rules, but map[types.NamespacedName]bool) (others []types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for pod, e := range l.pods {
		switch {
		case but[pod], e.in == now, e.in.Table == nil:
		case e.in == before:
			e.in = now
		default:
			others = append(others, pod)
		}
	}
	return others
}

// news records a report on a pod, and reports whether it differs from the last one. While a plan fails,
// a warning is not new again after reports on the node's progress.
func (l *ledger) news(pod types.NamespacedName, uid types.UID, said plan.Reason) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(pod, uid)
	if repeats(said, e.told) {
		return false
	}
	e.told = said
	if t := e.had(); t.failure != (plan.Reason{}) && said.Code.Severity() == contract.Warning {
		if repeats(said, t.warned) {
			return false
		}
		t.warned = said
	}
	return true
}

// ignores reports whether a report on an annotation is new since the last write that succeeded.
func (l *ledger) ignores(pod types.NamespacedName, uid types.UID, said plan.Reason) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(pod, uid)
	if slices.Contains(e.had().ignored, said) {
		return false
	}
	t := e.has()
	t.ignored = append(t.ignored[max(0, len(t.ignored)-mostIgnored+1):], said)
	return true
}

// mostIgnored is how many reports on annotations are remembered: users may change these all the time.
const mostIgnored = 10

// repeats reports whether a report says nothing new after another one.
func repeats(said, before plan.Reason) bool {
	return said == before || said.Code == before.Code && said.Code.Traits().Restless
}

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
