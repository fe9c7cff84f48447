package loop

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// refusedBy takes note that the node of a plan that puts back refused its sizes.
func (l *ledger) refusedBy(p *plan.Plan, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.of(p.Pod, p.UID); e.had().refused == nil || e.had().refused.Wanted != p.Wanted || now.Sub(e.had().refusedAt) > firstRefusal {
		e.refuse(p, now)
	}
}

// refuse remembers what the node refused of this pod. What it refuses whatever the
// amounts are is no matter of these sizes: the pod says so itself.
func (e *entry) refuse(p *plan.Plan, now time.Time) {
	if safety.WhateverTheAmounts(p.Reasons[0].Message) != "" {
		return
	}
	t := e.has()
	t.refused, t.refusedAt = &plan.Refusal{Reason: p.Reasons[0], Wanted: p.Wanted}, now
	t.refusals.longer(now, firstRefusal, longRefusal)
}

// refusal returns what the node refused last, and how long until more may be asked
// of it than now; nil if it refused nothing, 0 if that does not change by itself.
//
// What fails at a node, as a memory limit below what is used, is tried again with
// growing pauses. What it can never carry out is tried again after plan.InfeasibleFor:
// it may have changed, unseen.
func (l *ledger) refusal(pod types.NamespacedName, uid types.UID, now time.Time) (*plan.Refusal, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.pods[pod]
	if e == nil || e.uid != uid || e.had().refused == nil {
		return nil, 0
	}
	before := e.trouble
	left := before.refusals.left(now)
	r := &plan.Refusal{Reason: before.refused.Reason, Wanted: before.refused.Wanted, Waiting: left > 0}
	if r.Retry = r.Reason.Code == contract.ResizeError && !r.Waiting; r.Retry || r.Waiting {
		return r, left
	}
	left = max(0, before.refusedAt.Add(plan.InfeasibleFor).Sub(now))
	r.Retry = left == 0
	return r, left
}

// refused is what the node refused last, nil if that is nothing.
func (l *ledger) refused(pod types.NamespacedName, uid types.UID, now time.Time) *plan.Refusal {
	refused, _ := l.refusal(pod, uid, now)
	return refused
}
