package plan

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
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

// Changed describes where the API server's result of a resize differs from what the plan sent; "" if it
// does not. Amounts that the plan did not send do not count.
func (p *Plan) Changed(pod *corev1.Pod) string {
	var texts []string
	for i := range p.Containers {
		c := &p.Containers[i]
		got, ok := c.sizeIn(pod)
		for _, which := range contract.Originals {
			sent, has, m := c.Desired.Amount(which), got.Amount(which), sizing.MeasureOf(which)
			if ok && sent != c.Current.Amount(which) && has != sent {
				texts = append(texts, fmt.Sprintf("container %s: %s is %s instead of %s", c.Name, names[which], m.Text(has), m.Text(sent)))
			}
		}
	}
	return joined(texts, ", ")
}

// names has the names of the amounts, by contract.Original.
var names = [...]string{"cpu request", "cpu limit", "memory request", "memory limit"}

// Mutated describes how the API server's result of a resize differs from the plan; "" if it
// does not.
func (p *Plan) Mutated(pod *corev1.Pod) string {
	for i := range p.Containers {
		c := &p.Containers[i]
		got, ok := c.sizeIn(pod)
		if ok && (otherwise(c.Current.CPU, c.Desired.CPU, got.CPU) || otherwise(c.Current.Memory, c.Desired.Memory, got.Memory)) {
			return fmt.Sprintf("container %s would have cpu %s/%s, memory %s/%s (requests/limits)", c.Name,
				sizing.CPUText(got.CPU.Request), sizing.CPUText(got.CPU.Limit), sizing.MemoryText(got.Memory.Request), sizing.MemoryText(got.Memory.Limit))
		}
	}
	return ""
}

// IsDone reports whether a pod has all desired sizes of the plan.
func (p *Plan) IsDone(pod *corev1.Pod) bool {
	for i := range p.Containers {
		if has, ok := p.Containers[i].sizeIn(pod); !ok || has != p.Containers[i].Desired {
			return false
		}
	}
	return true
}

// sizeIn returns the size of the container in a pod, and whether the pod has the container.
func (c *ContainerPlan) sizeIn(pod *corev1.Pod) (sizing.Container, bool) {
	containers, at := pod.Spec.Containers, int(c.index)
	if c.Sidecar {
		containers, at = pod.Spec.InitContainers, at-len(containers)
	}
	if at < 0 || at >= len(containers) || containers[at].Name != c.Name {
		return sizing.Container{}, false
	}
	return sizing.FromResources(containers[at].Resources), true
}

// otherwise reports whether the API server stored something other than planned: an
// amount that the plan changes is not as desired, or an amount that did not exist was
// added. Later changes by other actors do not count.
func otherwise(current, desired, got sizing.Amount) bool {
	return (desired.Request != current.Request || current.Request == 0) && got.Request != desired.Request ||
		(desired.Limit != current.Limit || current.Limit == 0) && got.Limit != desired.Limit
}
