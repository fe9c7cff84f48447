package reconciler

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// next works on one pod of the queue; false when the queue is shut down.
func (r *Reconciler) next(ctx context.Context) bool {
	key, shutdown := r.queue.Get()
	if shutdown {
		return false
	}
	defer r.queue.Done(key)
	if ctx.Err() != nil {
		return true // Leave the rest of the queue to the next run.
	}
	// Before as well: the queue may have been empty for long.
	r.ticked()
	r.pacer.take(key)
	r.guard(ctx, key, r.process)
	r.pacer.release(key)
	r.ticked()
	return true
}

// guard works on a pod. Should that panic, it is the one pod that has to wait, and not
// all others, as they would after a restart that comes to the same pod again.
func (r *Reconciler) guard(ctx context.Context, key types.NamespacedName, work func(context.Context, types.NamespacedName)) {
	defer func() {
		if cause := recover(); cause != nil {
			r.writes.Failed()
			klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", cause), "Pod is left alone for a while, as working on it failed", "pod", key, "stack", string(debug.Stack()))
			r.queue.AddAfter(key, longPause)
		}
	}()
	work(ctx, key)
}

func (r *Reconciler) process(ctx context.Context, key types.NamespacedName) {
	queued := r.line.turn(key)
	found := r.pods.Pods(key.Namespace).Get(key.Name)
	if found == nil {
		r.ledger.forget(key)
		r.pacer.gone(key)
		return
	}
	rules, known := r.rules()
	if !known {
		return // Queued again when they are.
	}
	if r.ledger.stale(key, found.UID, found.ResourceVersion(), r.clock.Now()) {
		// Queued again with the next state; if none ever comes, when our
		// write does not count for more any longer.
		r.queue.AddAfter(key, trusted)
		return
	}
	ctx, visit := r.begin(ctx, queued)
	defer visit.end()
	began, changes := r.clock.Now(), r.changes.Load()
	s := r.snapshot(found, rules)
	p := r.Planner.Plan(s)
	planned := r.clock.Now()
	r.metrics.planning.Observe(planned.Sub(began).Seconds())
	visit.hasPlan(planned)
	r.ledger.planned(p, rules, differenceOf(found, p), queued)
	if r.overtaken(p, rules, changes) {
		r.queue.AddAfter(key, time.Second)
	}
	if !p.Realigns() {
		r.pacer.forget(key)
	}
	if wait := p.ReplanAt.Sub(r.clock.Now()); !p.ReplanAt.IsZero() {
		r.queue.AddAfter(key, max(wait, time.Second))
	}
	if !r.Leads() {
		// Queued again when it does. What a node refuses is known only until its pod
		// is put back, and the next leader is not to try it again.
		if p.Kind == plan.PutBack {
			r.ledger.refusedBy(p, r.clock.Now())
		}
		return
	}
	r.follow(ctx, found, p)
	switch {
	case p.Decision == plan.Skip && p.Reasons[0].Code == contract.Restored:
		// It was said when it was done, and of all others it is no news.
	case p.Decision == plan.Skip:
		r.tell(ctx, p, p.Reasons[0])
		if _, left := r.ledger.refusal(key, found.UID, r.clock.Now()); left > 0 {
			r.queue.AddAfter(key, left)
		}
	case !p.Pending():
	case r.DryRun:
		if r.ledger.news(key, p.UID, plan.Reason{Code: contract.Resized, Message: p.Describe()}) {
			klog.FromContext(ctx).Info("Dry run, pod left as it is", "pod", key, "node", p.Node, "nodeType", p.NodeType, "decision", p.Decision.String(), "plan", p.Describe())
		}
	default:
		r.carryOut(ctx, key, p)
	}
}

// overtaken tells whether what a plan was made from changed before it was known
// what the pod waits for: then nothing else queues it.
func (r *Reconciler) overtaken(p *plan.Plan, in rules, changes int64) bool {
	if now, _ := r.rules(); now != in {
		return true
	}
	return len(p.Reasons) > 0 && plan.Waits(p.Reasons[0].Code) != plan.Nowhere && r.changes.Load() != changes
}

// follow takes note of what the node made of the last resize.
func (r *Reconciler) follow(ctx context.Context, of *pod.Pod, p *plan.Plan) {
	if p.Decision == plan.Align && plan.Urgency(p.Reasons[0].Code) > 0 {
		r.tell(ctx, p, p.Reasons[0])
	}
	if !r.ledger.awaits(p.Pod) || !of.Actuated() {
		return
	}
	if took, ok := r.ledger.actuated(p.Pod, p.UID, r.clock.Now()); ok {
		r.metrics.actuation.Observe(took.Seconds())
		r.say(ctx, p, plan.Reason{Code: contract.ResizeActuated, Message: "the node took " + took.Round(time.Millisecond).String()})
	}
}

// carryOut has a plan carried out, unless the pod is to be let be for now, or
// has to wait for its turn.
func (r *Reconciler) carryOut(ctx context.Context, key types.NamespacedName, p *plan.Plan) {
	if pause := r.ledger.pause(p, r.clock.Now()); pause > 0 {
		r.queue.AddAfter(key, pause)
		return
	}
	if p.Realigns() && !r.pacer.mayGo(key, p.Wrongness(), p.Kind == plan.Restore) {
		return // Queued again when its turn comes.
	}
	// A write that has begun is not broken off when the process is asked to end; the
	// client bounds each of them.
	ctx, began := visitOf(ctx).trace(context.WithoutCancel(ctx), p), r.clock.Now()
	resourceVersion, err := r.actuator.CarryOut(ctx, p)
	r.pacer.used(key, err)
	if err != nil {
		visitOf(ctx).failed(err)
		r.failed(ctx, key, p, err)
		return
	}
	now := r.clock.Now()
	r.ledger.succeeded(p, resourceVersion, now)
	r.written(ctx, p, now.Sub(began))
}

// failed has a pod tried again after a failure, and says what failed if people
// have to know.
func (r *Reconciler) failed(ctx context.Context, key types.NamespacedName, p *plan.Plan, err error) {
	logger := r.loggerOf(ctx, p)
	var stopped *actuate.StoppedError
	if errors.As(err, &stopped) {
		logger.V(1).Info("Pod is not to be written to any more, planning it again", "err", err)
		r.queue.Add(key)
		return
	}
	var refused *actuate.RefusedError
	var unrecorded *actuate.UnrecordedError
	switch {
	case errors.As(err, &refused):
		r.writes.Refused(refused.Reason)
		r.tell(ctx, p, plan.Reason{Code: refused.Reason, Message: err.Error()})
	case actuate.Outdated(err):
		// Nothing that people have to know: the next state of the pod
		// gives the next plan.
		logger.V(1).Info("Pod changed meanwhile, planning it again", "err", err)
	case errors.As(err, &unrecorded):
		logger.Error(err, "Pod has its sizes, but that is not recorded yet")
	case actuate.StatusCode(err) == 0:
		r.writes.Failed()
		logger.Error(err, "API server gave no answer")
	default:
		r.writes.Failed()
		r.tell(ctx, p, plan.Reason{Code: contract.ResizeFailed, Message: err.Error()})
	}
	var busy *actuate.BusyError
	var asked time.Duration
	if errors.As(err, &busy) {
		asked = busy.Asked
	}
	r.queue.AddAfter(key, r.ledger.attempted(p, asked, r.clock.Now()))
}

// tell says something of a pod, unless it was the last thing that was said of
// it.
func (r *Reconciler) tell(ctx context.Context, p *plan.Plan, said plan.Reason) {
	if r.ledger.news(p.Pod, p.UID, said) {
		r.say(ctx, p, said)
	}
}

// say says something of a pod wherever people look.
func (r *Reconciler) say(ctx context.Context, p *plan.Plan, said plan.Reason) {
	logger := r.loggerOf(ctx, p)
	switch said.Code.Severity() {
	case contract.Silent:
		logger.V(2).Info("Pod left alone", "reason", said.Code, "message", said.Message)
	case contract.Normal:
		logger.Info("Pod dealt with", "reason", said.Code, "message", said.Message)
	case contract.Warning:
		logger.Info("Pod not sized", "reason", said.Code, "message", said.Message)
	}
	r.announce(ctx, p, said)
}
