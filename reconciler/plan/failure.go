package plan

import (
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Failure is what the last writes of a plan met: the API server refused them, or stored different sizes.
type Failure struct {
	// Plan is the signature of the plan.
	Plan   uint64
	Reason Reason
	// Until is when the plan is tried again; zero if only the leader knows.
	Until time.Time
}

// FailureOf returns the failure that a pod records; nil if it records none.
func FailureOf(of *pod.Pod) *Failure { return failureIn(of.Answer()) }

// failureIn returns the failure that an answer is about; nil if it is about none.
func failureIn(answer *pod.Answer) *Failure {
	about, ok := answer.AboutPlan()
	if !ok {
		return nil
	}
	code, message, _ := strings.Cut(answer.Message, " ")
	if _, known := contract.Reason(code).Info(); !known {
		code, message = string(contract.ResizeFailed), answer.Message
	}
	return &Failure{Plan: about, Reason: Reason{contract.Reason(code), message}}
}

// heed skips a pod whose plan has just failed until the plan is tried again:
// a plan must not promise what the last write has disproved. It comes last, because what failed is
// the plan as it was written.
func (p *Planner) heed(d *draft, s *Snapshot) *verdict {
	f := s.Failed
	if f == nil || d.Decision != Resize || f.Plan != d.Signature() || !f.Until.IsZero() && !s.Now.Before(f.Until) {
		return nil
	}
	reason := d.SkippedFor(f.Reason)
	v := d.skips(decided, reason.Code, reason.Message)
	v.again = f.Until
	return v
}

// SkippedFor returns the reason for which the pod is skipped after a failure of the plan.
func (p *Plan) SkippedFor(failed Reason) Reason {
	if p.Kind == Revert && p.Decision == Resize {
		return Reason{contract.RevertBlocked, failed.Message + "; not reverted: " + p.Reasons[0].Message}
	}
	return failed
}

// Note returns the action that records a failure of the plan on the pod, so that all replicas know it;
// false if the pod records it already.
func (p *Plan) Note(failed Reason, now time.Time) (Action, bool) {
	answer := pod.Answer{At: now, Machine: pod.APIServer(p.Signature()), Message: pod.Bounded(string(failed.Code) + " " + failed.Message)}
	if p.made != nil && p.made.failed != nil && *p.made.failed == *failureIn(&answer) {
		return Action{}, false
	}
	text := answer.String()
	return Action{Step: StepInfeasible, Annotations: map[string]*string{contract.Infeasible: &text}}, true
}
