package reconciler

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
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
			r.metrics.resize(resultFailed, contract.ResizeFailed)
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
	plan := r.Planner.Plan(s)
	planned := r.clock.Now()
	r.metrics.planning.Observe(planned.Sub(began).Seconds())
	visit.hasPlan(planned)
	r.ledger.planned(plan, rules, differenceOf(found, plan), queued)
	if r.overtaken(plan, rules, changes) {
		r.queue.AddAfter(key, time.Second)
	}
	if !plan.realigns() {
		r.pacer.forget(key)
	}
	if wait := plan.replanAt.Sub(r.clock.Now()); !plan.replanAt.IsZero() {
		r.queue.AddAfter(key, max(wait, time.Second))
	}
	if !r.Leads() {
		// Queued again when it does. What a node refuses is known only until its pod
		// is put back, and the next leader is not to try it again.
		if plan.kind == putBack {
			r.ledger.refusedBy(plan, r.clock.Now())
		}
		return
	}
	r.follow(ctx, found, plan)
	switch {
	case plan.Decision == Skip && plan.Reasons[0].Code == contract.Restored:
		// It was said when it was done, and of all others it is no news.
	case plan.Decision == Skip:
		r.tell(ctx, plan, plan.Reasons[0])
		if _, left := r.ledger.refusal(key, found.UID, r.clock.Now()); left > 0 {
			r.queue.AddAfter(key, left)
		}
	case !plan.pending():
	case r.DryRun:
		if r.ledger.news(key, plan.UID, Reason{contract.Resized, plan.describe()}) {
			klog.FromContext(ctx).Info("Dry run, pod left as it is", "pod", key, "node", plan.Node, "nodeType", plan.NodeType, "decision", plan.Decision.String(), "plan", plan.describe())
		}
	default:
		r.carryOut(ctx, key, plan)
	}
}

// overtaken tells whether what a plan was made from changed before it was known
// what the pod waits for: then nothing else queues it.
func (r *Reconciler) overtaken(plan *Plan, in rules, changes int64) bool {
	if now, _ := r.rules(); now != in {
		return true
	}
	return len(plan.Reasons) > 0 && waits(plan.Reasons[0].Code) != nowhere && r.changes.Load() != changes
}

// follow takes note of what the node made of the last resize.
func (r *Reconciler) follow(ctx context.Context, of *pod.Pod, plan *Plan) {
	if plan.Decision == Align && urgency(plan.Reasons[0].Code) > 0 {
		r.tell(ctx, plan, plan.Reasons[0])
	}
	if !r.ledger.awaits(plan.Pod) || !of.Actuated() {
		return
	}
	if took, ok := r.ledger.actuated(plan.Pod, plan.UID, r.clock.Now()); ok {
		r.metrics.actuation.Observe(took.Seconds())
		r.say(ctx, plan, Reason{contract.ResizeActuated, "the node took " + took.Round(time.Millisecond).String()})
	}
}

// carryOut has a plan carried out, unless the pod is to be let be for now, or
// has to wait for its turn.
func (r *Reconciler) carryOut(ctx context.Context, key types.NamespacedName, plan *Plan) {
	if pause := r.ledger.pause(plan, r.clock.Now()); pause > 0 {
		r.queue.AddAfter(key, pause)
		return
	}
	if plan.realigns() && !r.pacer.mayGo(key, plan.wrongness(), plan.kind == restore) {
		return // Queued again when its turn comes.
	}
	// A write that has begun is not broken off when the process is asked to end; the
	// client bounds each of them.
	ctx, began := visitOf(ctx).trace(context.WithoutCancel(ctx), plan), r.clock.Now()
	resourceVersion, err := r.actuator.carryOut(ctx, plan)
	r.pacer.used(key, err)
	if err != nil {
		visitOf(ctx).failed(err)
		r.failed(ctx, key, plan, err)
		return
	}
	now := r.clock.Now()
	r.ledger.succeeded(plan, resourceVersion, now)
	r.written(ctx, plan, now.Sub(began))
}

// failed has a pod tried again after a failure, and says what failed if people
// have to know.
func (r *Reconciler) failed(ctx context.Context, key types.NamespacedName, plan *Plan, err error) {
	logger := r.loggerOf(ctx, plan)
	var stopped *stoppedError
	if errors.As(err, &stopped) {
		logger.V(1).Info("Pod is not to be written to any more, planning it again", "err", err)
		r.queue.Add(key)
		return
	}
	var refused *refusedError
	var unrecorded *unrecordedError
	switch {
	case errors.As(err, &refused):
		r.metrics.resize(resultRefused, refused.reason)
		r.tell(ctx, plan, Reason{refused.reason, err.Error()})
	case outdated(err):
		// Nothing that people have to know: the next state of the pod
		// gives the next plan.
		logger.V(1).Info("Pod changed meanwhile, planning it again", "err", err)
	case errors.As(err, &unrecorded):
		logger.Error(err, "Pod has its sizes, but that is not recorded yet")
	case statusCode(err) == 0:
		r.metrics.resize(resultFailed, contract.ResizeFailed)
		logger.Error(err, "API server gave no answer")
	default:
		r.metrics.resize(resultFailed, contract.ResizeFailed)
		r.tell(ctx, plan, Reason{contract.ResizeFailed, err.Error()})
	}
	var busy *busyError
	var asked time.Duration
	if errors.As(err, &busy) {
		asked = busy.asked
	}
	r.queue.AddAfter(key, r.ledger.attempted(plan, asked, r.clock.Now()))
}

// outdated tells the errors that only say that the plan was made from a state
// that has passed.
func outdated(err error) bool {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == "metadata.uid" {
			return true // The name belongs to another pod now.
		}
	}
	return false
}

// tell says something of a pod, unless it was the last thing that was said of
// it.
func (r *Reconciler) tell(ctx context.Context, plan *Plan, said Reason) {
	if r.ledger.news(plan.Pod, plan.UID, said) {
		r.say(ctx, plan, said)
	}
}

// say says something of a pod wherever people look.
func (r *Reconciler) say(ctx context.Context, plan *Plan, said Reason) {
	logger := r.loggerOf(ctx, plan)
	switch said.Code.Severity() {
	case contract.Silent:
		logger.V(2).Info("Pod left alone", "reason", said.Code, "message", said.Message)
	case contract.Normal:
		logger.Info("Pod dealt with", "reason", said.Code, "message", said.Message)
	case contract.Warning:
		logger.Info("Pod not sized", "reason", said.Code, "message", said.Message)
	}
	r.announce(ctx, plan, said)
}
