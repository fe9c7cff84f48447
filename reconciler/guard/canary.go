package guard

import (
	"fmt"
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Trial is the pods of a controller on which a smaller size is tried before the others get it: the
// canaries.
type Trial struct {
	// Pod is the pod that may get the size, on a node of type NodeType.
	Pod      *pod.Pod
	NodeType string
	// Siblings are the pods of its controller. They may include the pod.
	Siblings []*pod.Pod
	Settings *ratios.GuardSettings
	Now      time.Time
}

// Unlimited is the number of places if a size has proven itself.
const Unlimited = math.MaxInt

// Wait says why a pod does not get a size yet.
type Wait struct {
	Reason  contract.Reason
	Message string
	// Again is when to ask again; zero if only a different size may be tried.
	Again time.Time
}

// Canaries returns how many of a number of pods try a size first: a share of them, rounded down, and
// at least one.
func Canaries(pods int, share float64) int { return max(1, int(share*float64(pods))) }

// Places returns how many more pods of the controller may get a size now, this pod included: all if
// enough of them have proven the size on nodes of the type. If there is no place, it says why.
func (t *Trial) Places(container string, m *sizing.Measure, to sizing.Amount) (places int, why Wait) {
	pods, proven, trying := 0, 0, 0
	var again time.Time
	for _, s := range t.Siblings {
		if s.UID == t.Pod.UID {
			pods++
			continue
		}
		if s.Finished() || s.Terminating() {
			continue
		}
		pods++
		if on, _ := s.Applied(); on != t.NodeType {
			continue
		}
		if why := t.failed(s, container, m, to); why.Reason != "" {
			return 0, why
		}
		switch until := t.triesUntil(s, container, m, to); {
		case until.IsZero():
		case !t.Now.Before(until):
			proven++
		default:
			if trying++; again.IsZero() || until.Before(again) {
				again = until
			}
		}
	}
	canaries := Canaries(pods, t.Settings.Canary)
	switch places = canaries - proven - trying; {
	case proven >= canaries:
		return Unlimited, Wait{}
	case places > 0:
		return places, Wait{}
	}
	return 0, Wait{contract.WaitingForCanary, fmt.Sprintf("%d of the workload's %d pods try %s %s first, until %s or longer",
		canaries, pods, m.Name, m.Show(to), again.UTC().Format(time.RFC3339)), again}
}

// failed says why a sibling shows that a size makes pods worse; it is empty if the sibling does not.
func (t *Trial) failed(s *pod.Pod, container string, m *sizing.Measure, to sizing.Amount) Wait {
	for _, r := range s.Reverts() {
		if r.Container != container || r.Measure != m || to.Request >= r.Back.Request && to.Limit >= r.Back.Limit {
			continue
		}
		why := Wait{Reason: contract.CanaryReverted, Message: fmt.Sprintf("%s made pod %s worse and was reverted there: %s (%s)", m.Show(r.Hurt), s.Name, r.Message, r.Harm)}
		if to == r.Hurt {
			return why
		}
		if why.Again = RetryAt(&r, t.Settings.Cooldown); t.Now.Before(why.Again) {
			return why
		}
	}
	return Wait{}
}

// lookAgain is how soon to look again at a sibling whose node has not made its resize.
const lookAgain = time.Minute

// triesUntil returns until when a sibling tries a size that a resize lowered a container to; zero if it
// does not have the size.
func (t *Trial) triesUntil(s *pod.Pod, container string, m *sizing.Measure, to sizing.Amount) time.Time {
	for i := range s.Containers {
		c := &s.Containers[i]
		if c.Name() != container {
			continue
		}
		if *m.Of(&c.Spec) != to || !c.Resized() || !c.Standings[m.Index].Ours() {
			return time.Time{}
		}
		if allocated := c.Allocated(); *m.Of(&allocated) != to {
			return t.Now.Add(lookAgain)
		}
		return Until(s, t.Settings.Window)
	}
	return time.Time{}
}
