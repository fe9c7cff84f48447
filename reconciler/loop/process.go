package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// next processes one pod of the queue. It returns false when the queue is shut down.
func (l *Loop) next(ctx context.Context) bool {
	key, shutdown := l.queue.Get()
	if shutdown {
		return false
	}
	defer l.queue.Done(key)
	if ctx.Err() != nil {
		return true // Leave the rest of the queue to the next run.
	}
	// Also before processing: the queue may have been empty for a long time.
	l.ticked()
	l.pacer.take(key)
	l.survive(ctx, key, l.process)
	l.pacer.release(key)
	l.ticked()
	return true
}

// survive processes a pod. After a panic only this pod waits. A crash would delay all pods,
// and would repeat after the restart with the same pod.
func (l *Loop) survive(ctx context.Context, key types.NamespacedName, work func(context.Context, types.NamespacedName)) {
	defer func() {
		if cause := recover(); cause != nil {
			l.Writer.Metrics.Failed()
			klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", cause), "Panic while processing a pod; retrying later", "pod", key, "stack", string(debug.Stack()))
			l.queue.AddAfter(key, longPause)
		}
	}()
	work(ctx, key)
}

func (l *Loop) process(ctx context.Context, key types.NamespacedName) {
	queued := l.line.turn(key)
	found := l.Cluster.Pods(key.Namespace).Get(key.Name)
	if found == nil {
		l.places.End(key)
		l.ledger.forget(key)
		l.pacer.gone(key)
		l.tellPlanned(key, nil, nil)
		return
	}
	rules, known := l.Cluster.Rules()
	if !known {
		return // The pod is queued again when they are known.
	}
	if l.ledger.stale(key, found.UID, found.ResourceVersion(), l.Clock.Now()) {
		// The next state queues the pod again. If there is none, process the pod
		// when our write no longer takes precedence over the cache.
		l.queue.AddAfter(key, trusted)
		return
	}
	l.places.End(key) // The cache shows the last resize of the pod.
	shown := l.places.Mark()
	ctx, visit := l.begin(ctx, queued)
	defer visit.end()
	began, changes := l.Clock.Now(), l.changes.Load()
	s := l.Cluster.Snapshot(found, rules)
	p := l.Planner.Plan(s)
	planned := l.Clock.Now()
	l.metrics.planning.Observe(planned.Sub(began).Seconds())
	visit.hasPlan(planned)
	l.ledger.planned(p, rules, differenceOf(found, p), queued)
	l.tellPlanned(key, found, p)
	l.count(found, s.Workloads, p.Guard())
	if l.overtaken(p, rules, changes) {
		l.queue.AddAfter(key, time.Second)
	}
	if !p.Paced() {
		l.pacer.forget(key)
	}
	if wait := p.ReplanAt.Sub(l.Clock.Now()); !p.ReplanAt.IsZero() {
		l.queue.AddAfter(key, max(wait, time.Second))
	}
	if !l.Leads() {
		// The pod is queued again when this process leads. A refusal by a node
		// is visible only until the pod is reverted, and the next leader must
		// not try the same size again.
		if p.Kind == plan.RevertRefused {
			l.ledger.refusedBy(p, l.Clock.Now())
		}
		return
	}
	l.follow(ctx, found, p)
	switch {
	case p.Decision == plan.Skip && p.Reasons[0].Code == contract.Restored:
		// It was reported at the time of the restore; for other pods it is not new.
	case p.Decision == plan.Skip:
		l.tell(ctx, p, p.Reasons[0])
		if _, left := l.ledger.refusal(key, found.UID, l.Clock.Now()); left > 0 {
			l.queue.AddAfter(key, left)
		}
	case !p.Pending():
	case l.DryRun:
		if l.ledger.news(key, p.UID, plan.Reason{Code: contract.Resized, Message: p.Describe()}) {
			klog.FromContext(ctx).Info("Dry run, pod not changed", "pod", key, "node", p.Node, "nodeType", p.NodeType, "decision", p.Decision.String(), "plan", p.Describe())
		}
	default:
		l.carryOut(ctx, key, p, &shown)
	}
}

// overtaken reports whether the inputs of a plan changed before the ledger had recorded
// what the pod waits for: in that case nothing else queues the pod.
func (l *Loop) overtaken(p *plan.Plan, in cluster.Rules, changes int64) bool {
	if now, _ := l.Cluster.Rules(); now != in {
		return true
	}
	return len(p.Reasons) > 0 && p.Reasons[0].Code.Traits().Waits != contract.Nowhere && l.changes.Load() != changes
}

// follow reports the node's progress with the last resize.
func (l *Loop) follow(ctx context.Context, of *pod.Pod, p *plan.Plan) {
	switch {
	case p.Decision != plan.Align:
	case p.Reasons[0].Code.Traits().Urgency > 0:
		l.tell(ctx, p, p.Reasons[0])
	case of.SizedAtCreation() && p.Begins():
		l.tell(ctx, p, p.AtCreation(of)) // It had no uid when it was sized.
	}
	if !l.ledger.awaits(p.Pod) || !of.Actuated() {
		return
	}
	if took, ok := l.ledger.actuated(p.Pod, p.UID, l.Clock.Now()); ok {
		l.metrics.actuation.Observe(took.Seconds())
		l.say(ctx, p, plan.Reason{Code: contract.ResizeActuated, Message: "the node completed the resize after " + took.Round(time.Millisecond).String()})
	}
}

// carryOut executes a plan unless the pod is backing off or has to wait for its turn.
func (l *Loop) carryOut(ctx context.Context, key types.NamespacedName, p *plan.Plan, shown *workload.Mark) {
	if pause := l.ledger.pause(p, l.Clock.Now()); pause > 0 {
		l.queue.AddAfter(key, pause)
		return
	}
	// A pod in distress does not wait for others.
	if pause := l.brake.left(l.Clock.Now()); pause > 0 && p.Kind != plan.Revert {
		l.pacer.postpone(key, l.Clock.Now().Add(pause))
		l.queue.AddAfter(key, pause)
		return
	}
	if p.Paced() && !l.pacer.mayGo(key, need{p.Wrongness(), p.Kind == plan.Restore, p.Frees()}) {
		return // The pod is queued again when its turn begins.
	}
	if len(p.Claims) > 0 && !l.places.Take(key, p.Claims, shown) {
		l.queue.AddAfter(key, time.Second)
		return
	}
	l.tellIgnored(ctx, p)
	// A write that has begun is not canceled when the process shuts down; the client
	// limits the duration of each write.
	ctx, began := visitOf(ctx).trace(context.WithoutCancel(ctx), p), l.Clock.Now()
	resourceVersion, err := l.Writer.CarryOut(ctx, p)
	l.pacer.used(key, err)
	if err != nil {
		l.brake.pull(err, l.Clock.Now())
		visitOf(ctx).failed(err)
		l.failed(ctx, key, p, err)
		return
	}
	now := l.Clock.Now()
	l.brake.release(now)
	l.ledger.succeeded(p, resourceVersion, now)
	l.written(ctx, p, now.Sub(began))
}

// tellPlanned passes on the plan of a pod; nil if the pod is gone.
func (l *Loop) tellPlanned(key types.NamespacedName, of *pod.Pod, p *plan.Plan) {
	if l.Planned != nil {
		l.Planned(key, of, p)
	}
}

// failed schedules a retry after a failure, and reports the failure if users need to know
// about it.
func (l *Loop) failed(ctx context.Context, key types.NamespacedName, p *plan.Plan, err error) {
	logger := l.loggerOf(ctx, p)
	var stopped *actuate.StoppedError
	if errors.As(err, &stopped) {
		logger.V(1).Info("Write stopped; planning the pod again", "err", err)
		l.places.End(key)
		l.queue.Add(key)
		return
	}
	var refused *actuate.RefusedError
	var unannotated *actuate.UnannotatedError
	if !errors.As(err, &unannotated) && !isUnanswered(err) && !actuate.Mutated(err) {
		l.places.End(key) // The others end when the pod is processed again, since it may have been resized.
	}
	var answer plan.Reason
	switch {
	case errors.As(err, &refused):
		l.Writer.Metrics.Refused(refused.Reason)
		answer = plan.Reason{Code: refused.Reason, Message: err.Error()}
	case actuate.Outdated(err):
		// Not worth a report: the next state of the pod leads to the next plan.
		logger.V(1).Info("Pod changed in the meantime; planning it again", "err", err)
	case errors.As(err, &unannotated):
		logger.Error(err, "Resized pod, but its annotations are not written yet")
	case actuate.StatusCode(err) == 0:
		l.Writer.Metrics.Failed()
		logger.Error(err, "No response from the API server")
	default:
		l.Writer.Metrics.Failed()
		answer = plan.Reason{Code: contract.ResizeFailed, Message: err.Error()}
	}
	met := answer
	if inTrouble(err) {
		met = plan.Reason{} // It says nothing about this pod.
	}
	pause := l.ledger.attempted(p, err, met, l.Clock.Now())
	l.queue.AddAfter(key, pause)
	switch {
	case answer == (plan.Reason{}):
		return
	case met == (plan.Reason{}):
		l.tell(ctx, p, answer)
		return
	}
	l.tell(ctx, p, p.SkippedFor(met))
	l.queue.Add(key) // Its plan says now what it met, and counts as such.
	if p.Decision == plan.Resize && (pause >= noteAfter || actuate.Denied(err) || actuate.Mutated(err)) {
		l.note(ctx, p, met)
	}
}

// tell reports a reason for a pod, unless it was the last report on the pod.
func (l *Loop) tell(ctx context.Context, p *plan.Plan, said plan.Reason) {
	if l.ledger.news(p.Pod, p.UID, said) {
		l.say(ctx, p, said)
	}
}

// say reports a reason for a pod in the log, and wherever else users look.
func (l *Loop) say(ctx context.Context, p *plan.Plan, said plan.Reason) {
	logger := l.loggerOf(ctx, p)
	switch said.Code.Severity() {
	case contract.Silent:
		logger.V(2).Info("Pod processed", "reason", said.Code, "message", said.Message)
	case contract.Normal:
		logger.Info("Pod processed", "reason", said.Code, "message", said.Message)
	case contract.Warning:
		logger.Info("Pod not resized", "reason", said.Code, "message", said.Message)
	}
	l.announce(ctx, p, said)
}
