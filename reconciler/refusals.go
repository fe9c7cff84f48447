package reconciler

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// refusedBy takes note that the node of a plan that puts back refused its sizes.
func (l *ledger) refusedBy(plan *Plan, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.of(plan.Pod, plan.UID); e.had().refused == nil || e.had().refused.wanted != plan.wanted || now.Sub(e.had().refusedAt) > firstRefusal {
		e.refuse(plan, now)
	}
}

// refuse remembers what the node refused of this pod. What it refuses whatever the
// amounts are is no matter of these sizes: the pod says so itself.
func (e *entry) refuse(plan *Plan, now time.Time) {
	if safety.WhateverTheAmounts(plan.Reasons[0].Message) != "" {
		return
	}
	t := e.has()
	t.refused, t.refusedAt = &Refusal{Reason: plan.Reasons[0], wanted: plan.wanted}, now
	t.refusals.longer(now, firstRefusal, longRefusal)
}

// refusal returns what the node refused last, and how long until more may be asked
// of it than now; nil if it refused nothing, 0 if that does not change by itself.
//
// What fails at a node, as a memory limit below what is used, is tried again with
// growing pauses. What it can never carry out is tried again after infeasibleFor:
// it may have changed, unseen.
func (l *ledger) refusal(pod types.NamespacedName, uid types.UID, now time.Time) (*Refusal, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.pods[pod]
	if e == nil || e.uid != uid || e.had().refused == nil {
		return nil, 0
	}
	before := e.trouble
	left := before.refusals.left(now)
	r := &Refusal{Reason: before.refused.Reason, wanted: before.refused.wanted, waiting: left > 0}
	if r.retry = r.Reason.Code == contract.ResizeError && !r.waiting; r.retry || r.waiting {
		return r, left
	}
	left = max(0, before.refusedAt.Add(infeasibleFor).Sub(now))
	r.retry = left == 0
	return r, left
}
