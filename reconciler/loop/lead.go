package loop

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Every replica watches the cluster and plans, so that every replica can report the state
// of pods. Only the leader writes pods and reports outcomes.

// Leads reports whether this process writes.
func (l *Loop) Leads() bool { return l.Leader == nil || l.Leader.Leading() }

func (l *Loop) watchLeader() <-chan struct{} {
	if l.Leader == nil {
		return nil
	}
	return l.Leader.Watch()
}

// leaderChanged starts over: what this process did and reported before another replica
// led does not determine what it must do and report now.
func (l *Loop) leaderChanged() {
	l.pacer.clear()
	if !l.Leads() {
		return
	}
	l.pacer.recall(l.recall())
	l.ledger.startOver()
	l.breakers.check()
	for _, of := range l.Cluster.Pods(metav1.NamespaceAll).List() {
		l.queue.Add(of.NamespacedName())
	}
}

// Knows reports whether a pod has been planned.
func (l *Loop) Knows(of *pod.Pod) bool {
	_, known := l.ledger.plannedWith(of.NamespacedName())
	return known
}

// Verdict returns the last decision on a pod, and its first reason, which is empty for a pod that must be resized; false if it has
// not been planned.
func (l *Loop) Verdict(of *pod.Pod) (decision plan.Decision, code contract.Reason, planned bool) {
	v, planned := l.ledger.verdictOn(of)
	return v.decision, v.reason, planned
}

// PermitEviction returns a *StoppedError unless a pod may be evicted now: this process leads, the cluster is not frozen, as the
// API server says now, and nothing holds the pod.
func (l *Loop) PermitEviction(ctx context.Context, of *pod.Pod) error {
	if !l.Leads() {
		return &actuate.StoppedError{Because: "another replica may lead"}
	}
	if l.DryRun {
		return &actuate.StoppedError{Because: "the server runs with --dry-run"}
	}
	holds, err := l.Holds.Ready()
	if err != nil {
		return &actuate.StoppedError{Because: "the holds are unknown"}
	}
	frozen := holds.Freeze() != nil
	if !frozen {
		if frozen, err = l.Holds.FrozenNow(ctx); err != nil {
			return &actuate.StoppedError{Because: fmt.Sprint("it is not known whether the cluster is frozen: ", err)}
		}
	}
	if frozen {
		return &actuate.StoppedError{Because: "the cluster is frozen"}
	}
	if h, held := holds.Of(of.Namespace(), of.Name, of.UID, l.Cluster.Owners().Chain(nil, of)...); held {
		return &actuate.StoppedError{Because: fmt.Sprintf("a %s of %s is in effect", h.Kind, h.Scope)}
	}
	return nil
}

// CountEviction takes note of what came of the eviction of a pod, as of a resize: hurt means that its workload has lacked a
// ready pod since.
func (l *Loop) CountEviction(group workload.Group, evicted workload.Eviction) {
	l.breakers.mu.Lock()
	defer l.breakers.mu.Unlock()
	if l.breakers.outcomes.Evicted(group, evicted, l.Clock.Now()) {
		l.breakers.check()
	}
}

// permit returns a *StoppedError unless a write of the plan may begin now: this process
// leads, the cluster is not frozen, and the holds in effect still match the plan. A freeze
// permits only the record of a resize that was just made: the record changes no size, and
// says what was done.
func (l *Loop) permit(ctx context.Context, p *plan.Plan, w plan.Action) error {
	if !l.Leads() {
		return &actuate.StoppedError{Because: "another replica may lead"}
	}
	holds, err := l.Holds.Ready()
	if err != nil {
		return &actuate.StoppedError{Because: "the holds are unknown"}
	}
	frozen := holds.Freeze() != nil
	switch {
	case frozen && w.Anyhow:
		return nil
	case !frozen && !w.Anyhow:
		// The watch may be late.
		if frozen, err = l.Holds.FrozenNow(ctx); err != nil {
			return err
		}
	}
	if frozen {
		return &actuate.StoppedError{Because: "the cluster is frozen"}
	}
	var asked hold.Kind
	if p.Kind == plan.Restore {
		asked = hold.Restore
	}
	h, _ := holds.Of(p.Pod.Namespace, p.Pod.Name, p.UID, p.Workloads...)
	switch h.Kind {
	case asked:
		return nil
	case hold.Breaker:
		if p.Kind != plan.Restore && (p.Kind != plan.Sizes || p.Decision != plan.Resize || w.Anyhow) {
			return nil
		}
	case "":
		return &actuate.StoppedError{Because: "the restore has ended"}
	}
	return &actuate.StoppedError{Because: fmt.Sprintf("a %s of %s is in effect", h.Kind, h.Scope)}
}
