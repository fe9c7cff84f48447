package loop

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// trusted is how long one of our writes takes precedence over the cache. It limits how long
// a pod is ignored if resource versions go backward, as after a restore of etcd from a
// backup.
const trusted = time.Minute

// stale reports whether the cached pod is older than our last write to it.
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

// awaits reports whether the pod has a resize that the node has not been seen to complete.
func (l *ledger) awaits(pod types.NamespacedName) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.pods[pod]
	return e != nil && !e.resizedAt.IsZero()
}

// succeeded records that a plan was executed. If it is the same plan as the last time,
// another actor has undone it, and the delay before the next attempt grows.
func (l *ledger) succeeded(p *plan.Plan, resourceVersion string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(p.Pod, p.UID)
	e.wrote, e.wroteAt = resourceVersion, now
	if e.trouble != nil {
		e.trouble.failed, e.trouble.failure, e.trouble.warned, e.trouble.ignored = backOff{}, plan.Reason{}, plan.Reason{}, nil
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
	if p.Kind == plan.RevertRefused {
		e.refuse(p, now)
	}
}

// actuated records that the node has completed the last resize, and returns how long that
// took; false if no resize was awaited.
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
		e.trouble.refused = nil // The node may accept now what it refused before.
	}
	return took, true
}

// attempted records that a plan could not be executed because of an error, and how the API server answered
// (zero if it did not). It returns the delay before the next attempt. Pods in distress try again soon: otherwise
// they would suffer for minutes after the API server has recovered. They do not if admission changes what they
// get: it has been written, and would be written again and again.
func (l *ledger) attempted(p *plan.Plan, err error, answer plan.Reason, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(p.Pod, p.UID)
	t := e.has()
	if t.failed.what != p.Signature() {
		t.warned = plan.Reason{}
	}
	t.failed.of(p.Signature())
	if is[*actuate.UnannotatedError](err) {
		t.failed.last = 0 // The resize is made. Only the attempts to record it count from now on.
	}
	t.failure, t.outdated = answer, ""
	if actuate.Outdated(err) {
		t.outdated = p.ResourceVersion
	}
	asked := actuate.Asked(err)
	first, most := retries(p, err)
	most = max(asked, most)
	if (p.Kind == plan.Revert || p.Emergency) && !actuate.Mutated(err) {
		asked, most = min(asked, longDistress), longDistress
	}
	t.failed.longer(now, max(asked, first), most)
	return t.failed.left(now)
}

// pause returns the rest of a pod's delay. A plan that differs from the one that was
// tried has no delay. A plan that only was outdated has a short delay once a later state of the pod is known: how often
// it failed before that, as while a watch is interrupted, says nothing about it.
func (l *ledger) pause(p *plan.Plan, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of(p.Pod, p.UID)
	signature, pause := p.Signature(), time.Duration(0)
	if failed := &e.had().failed; failed.what == signature {
		pause = failed.left(now)
		if was := e.trouble.outdated; was != "" && was != p.ResourceVersion {
			pause = max(0, pause-max(0, failed.last-firstPause))
		}
	}
	if e.done == signature {
		pause = max(pause, e.had().undone.left(now))
	}
	return pause
}
