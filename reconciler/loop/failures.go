package loop

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// lastFailure returns what the last writes to a pod met; nil if they succeeded. Only the leader knows
// all failures, and when it tries again. Others know what the pod records.
func (l *Loop) lastFailure(of *pod.Pod) *plan.Failure {
	if l.Leads() && !l.DryRun {
		return l.ledger.failure(of.NamespacedName(), of.UID)
	}
	return plan.FailureOf(of)
}

// failure returns what the last writes to a pod met; nil if they succeeded, or if the API server gave
// no answer.
func (l *ledger) failure(pod types.NamespacedName, uid types.UID) *plan.Failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.pods[pod]
	if e == nil || e.uid != uid || e.had().failure == (plan.Reason{}) {
		return nil
	}
	return &plan.Failure{Plan: e.trouble.failed.what, Reason: e.trouble.failure, Until: e.trouble.failed.until}
}

// retries returns the shortest and the longest delay after an error, before the same plan is tried
// again. An admission policy that has denied a write rarely allows it soon. Sizes that admission has changed are
// written again only after a day, as sizes that a node refuses: each attempt resizes the pod, and nothing says
// when the policy changes. Plans that take sizes back do not wait for so long: they are rare, and a user waits for
// them, or the pod suffers.
func retries(p *plan.Plan, err error) (first, most time.Duration) {
	switch {
	case p.Kind != plan.Sizes:
		return firstPause, longPause
	case actuate.Mutated(err):
		return plan.InfeasibleFor, plan.InfeasibleFor
	case is[*actuate.RefusedError](err):
		return firstPause, longPause // The reason says what the pod waits for.
	case actuate.Denied(err):
		return firstPause, longRefusal
	}
	return firstPause, longPause
}

// noteAfter is how long a plan must wait after failures for the pod to record them, unless the API server has
// decided against the write, or changed it. Others may end soon, and may concern all pods.
const noteAfter = time.Minute

// note records on the pod what a plan met, so that every replica and the next leader know it.
func (l *Loop) note(ctx context.Context, p *plan.Plan, failed plan.Reason) {
	if err := l.Writer.Note(ctx, p, failed); err != nil {
		l.loggerOf(ctx, p).V(1).Info("Failure not recorded on the pod", "err", err)
	}
}

// inTrouble reports whether an error concerns the API server itself, regardless of the pod.
func inTrouble(err error) bool {
	return isUnanswered(err) || actuate.StatusCode(err) == http.StatusTooManyRequests || actuate.Asked(err) > 0
}

// isUnanswered reports whether a write may have been made despite an error: the API server has failed, or
// cannot be reached. A webhook that cannot be called does not count: it may not apply to every pod, and nothing
// was written.
func isUnanswered(err error) bool {
	code := actuate.StatusCode(err)
	return code == 0 || code >= http.StatusInternalServerError && !strings.Contains(err.Error(), "failed calling webhook")
}

// is reports whether an error is of a type.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
