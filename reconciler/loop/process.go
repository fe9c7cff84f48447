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
)

// next works on one pod of the queue; false when the queue is shut down.
func (l *Loop) next(ctx context.Context) bool {
	key, shutdown := l.queue.Get()
	if shutdown {
		return false
	}
	defer l.queue.Done(key)
	if ctx.Err() != nil {
		return true // Leave the rest of the queue to the next run.
	}
	// Before as well: the queue may have been empty for long.
	l.ticked()
	l.pacer.take(key)
	l.guard(ctx, key, l.process)
	l.pacer.release(key)
	l.ticked()
	return true
}

// guard works on a pod. Should that panic, it is the one pod that has to wait, and not
// all others, as they would after a restart that comes to the same pod again.
func (l *Loop) guard(ctx context.Context, key types.NamespacedName, work func(context.Context, types.NamespacedName)) {
	defer func() {
		if cause := recover(); cause != nil {
			l.Writer.Metrics.Failed()
			klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", cause), "Pod is left alone for a while, as working on it failed", "pod", key, "stack", string(debug.Stack()))
			l.queue.AddAfter(key, longPause)
		}
	}()
	work(ctx, key)
}

func (l *Loop) process(ctx context.Context, key types.NamespacedName) {
	queued := l.line.turn(key)
	found := l.Cluster.Pods(key.Namespace).Get(key.Name)
	if found == nil {
		l.ledger.forget(key)
		l.pacer.gone(key)
		return
	}
	rules, known := l.Cluster.Rules()
	if !known {
		return // Queued again when they are.
	}
	if l.ledger.stale(key, found.UID, found.ResourceVersion(), l.Clock.Now()) {
		// Queued again with the next state; if none ever comes, when our
		// write does not count for more any longer.
		l.queue.AddAfter(key, trusted)
		return
	}
	ctx, visit := l.begin(ctx, queued)
	defer visit.end()
	began, changes := l.Clock.Now(), l.changes.Load()
	s := l.Cluster.Snapshot(found, rules)
	p := l.Planner.Plan(s)
	planned := l.Clock.Now()
	l.metrics.planning.Observe(planned.Sub(began).Seconds())
	visit.hasPlan(planned)
	l.ledger.planned(p, rules, differenceOf(found, p), queued)
	if l.overtaken(p, rules, changes) {
		l.queue.AddAfter(key, time.Second)
	}
	if !p.Realigns() {
		l.pacer.forget(key)
	}
	if wait := p.ReplanAt.Sub(l.Clock.Now()); !p.ReplanAt.IsZero() {
		l.queue.AddAfter(key, max(wait, time.Second))
	}
	if !l.Leads() {
		// Queued again when it does. What a node refuses is known only until its pod
		// is put back, and the next leader is not to try it again.
		if p.Kind == plan.PutBack {
			l.ledger.refusedBy(p, l.Clock.Now())
		}
		return
	}
	l.follow(ctx, found, p)
	switch {
	case p.Decision == plan.Skip && p.Reasons[0].Code == contract.Restored:
		// It was said when it was done, and of all others it is no news.
	case p.Decision == plan.Skip:
		l.tell(ctx, p, p.Reasons[0])
		if _, left := l.ledger.refusal(key, found.UID, l.Clock.Now()); left > 0 {
			l.queue.AddAfter(key, left)
		}
	case !p.Pending():
	case l.DryRun:
		if l.ledger.news(key, p.UID, plan.Reason{Code: contract.Resized, Message: p.Describe()}) {
			klog.FromContext(ctx).Info("Dry run, pod left as it is", "pod", key, "node", p.Node, "nodeType", p.NodeType, "decision", p.Decision.String(), "plan", p.Describe())
		}
	default:
		l.carryOut(ctx, key, p)
	}
}

// overtaken tells whether what a plan was made from changed before it was known
// what the pod waits for: then nothing else queues it.
func (l *Loop) overtaken(p *plan.Plan, in cluster.Rules, changes int64) bool {
	if now, _ := l.Cluster.Rules(); now != in {
		return true
	}
	return len(p.Reasons) > 0 && plan.Waits(p.Reasons[0].Code) != plan.Nowhere && l.changes.Load() != changes
}

// follow takes note of what the node made of the last resize.
func (l *Loop) follow(ctx context.Context, of *pod.Pod, p *plan.Plan) {
	if p.Decision == plan.Align && plan.Urgency(p.Reasons[0].Code) > 0 {
		l.tell(ctx, p, p.Reasons[0])
	}
	if !l.ledger.awaits(p.Pod) || !of.Actuated() {
		return
	}
	if took, ok := l.ledger.actuated(p.Pod, p.UID, l.Clock.Now()); ok {
		l.metrics.actuation.Observe(took.Seconds())
		l.say(ctx, p, plan.Reason{Code: contract.ResizeActuated, Message: "the node took " + took.Round(time.Millisecond).String()})
	}
}

// carryOut has a plan carried out, unless the pod is to be let be for now, or
// has to wait for its turn.
func (l *Loop) carryOut(ctx context.Context, key types.NamespacedName, p *plan.Plan) {
	if pause := l.ledger.pause(p, l.Clock.Now()); pause > 0 {
		l.queue.AddAfter(key, pause)
		return
	}
	if p.Realigns() && !l.pacer.mayGo(key, p.Wrongness(), p.Kind == plan.Restore) {
		return // Queued again when its turn comes.
	}
	// A write that has begun is not broken off when the process is asked to end; the
	// client bounds each of them.
	ctx, began := visitOf(ctx).trace(context.WithoutCancel(ctx), p), l.Clock.Now()
	resourceVersion, err := l.Writer.CarryOut(ctx, p)
	l.pacer.used(key, err)
	if err != nil {
		visitOf(ctx).failed(err)
		l.failed(ctx, key, p, err)
		return
	}
	now := l.Clock.Now()
	l.ledger.succeeded(p, resourceVersion, now)
	l.written(ctx, p, now.Sub(began))
}

// failed has a pod tried again after a failure, and says what failed if people
// have to know.
func (l *Loop) failed(ctx context.Context, key types.NamespacedName, p *plan.Plan, err error) {
	logger := l.loggerOf(ctx, p)
	var stopped *actuate.StoppedError
	if errors.As(err, &stopped) {
		logger.V(1).Info("Pod is not to be written to any more, planning it again", "err", err)
		l.queue.Add(key)
		return
	}
	var refused *actuate.RefusedError
	var unrecorded *actuate.UnrecordedError
	switch {
	case errors.As(err, &refused):
		l.Writer.Metrics.Refused(refused.Reason)
		l.tell(ctx, p, plan.Reason{Code: refused.Reason, Message: err.Error()})
	case actuate.Outdated(err):
		// Nothing that people have to know: the next state of the pod
		// gives the next plan.
		logger.V(1).Info("Pod changed meanwhile, planning it again", "err", err)
	case errors.As(err, &unrecorded):
		logger.Error(err, "Pod has its sizes, but that is not recorded yet")
	case actuate.StatusCode(err) == 0:
		l.Writer.Metrics.Failed()
		logger.Error(err, "API server gave no answer")
	default:
		l.Writer.Metrics.Failed()
		l.tell(ctx, p, plan.Reason{Code: contract.ResizeFailed, Message: err.Error()})
	}
	var busy *actuate.BusyError
	var asked time.Duration
	if errors.As(err, &busy) {
		asked = busy.Asked
	}
	l.queue.AddAfter(key, l.ledger.attempted(p, asked, l.Clock.Now()))
}

// tell says something of a pod, unless it was the last thing that was said of
// it.
func (l *Loop) tell(ctx context.Context, p *plan.Plan, said plan.Reason) {
	if l.ledger.news(p.Pod, p.UID, said) {
		l.say(ctx, p, said)
	}
}

// say says something of a pod wherever people look.
func (l *Loop) say(ctx context.Context, p *plan.Plan, said plan.Reason) {
	logger := l.loggerOf(ctx, p)
	switch said.Code.Severity() {
	case contract.Silent:
		logger.V(2).Info("Pod left alone", "reason", said.Code, "message", said.Message)
	case contract.Normal:
		logger.Info("Pod dealt with", "reason", said.Code, "message", said.Message)
	case contract.Warning:
		logger.Info("Pod not sized", "reason", said.Code, "message", said.Message)
	}
	l.announce(ctx, p, said)
}
