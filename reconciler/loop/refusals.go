package loop

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// refusedBy records the refusal by the node that a RevertRefused plan reverts.
func (l *ledger) refusedBy(p *plan.Plan, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.of(p.Pod, p.UID); e.had().refused == nil || !e.had().refused.Wanted.Covers(p.Wanted, false) || now.Sub(e.had().refusedAt) > firstRefusal {
		e.refuse(p, now)
	}
}

// refuse remembers what the node refused for this pod. A refusal of any size is not about
// these sizes, and is recorded on the pod itself.
func (e *entry) refuse(p *plan.Plan, now time.Time) {
	if safety.WhateverTheAmounts(p.Reasons[0].Message) != "" {
		return
	}
	t := e.has()
	t.refused, t.refusedAt = &plan.Refusal{Reason: p.Reasons[0], Wanted: p.Wanted}, now
	t.refusals.longer(now, firstRefusal, longRefusal)
}

// refusal returns the last refusal of the node, nil if there is none, and the time until a
// larger size may be tried, 0 if time alone does not change that.
//
// A resize that fails on the node, such as a memory limit below the usage, is tried
// again with backoff. An infeasible resize is tried again after plan.InfeasibleFor,
// because the node may have changed without notice.
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

// refused returns the last refusal of the node; nil if there is none.
func (l *ledger) refused(pod types.NamespacedName, uid types.UID, now time.Time) *plan.Refusal {
	refused, _ := l.refusal(pod, uid, now)
	return refused
}
