package guard

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Case is a pod to judge.
type Case struct {
	Pod *pod.Pod
	// Node is the node of the pod; nil if it is unknown.
	Node     *corev1.Node
	Settings *policy.Guard
	Now      time.Time
	// Signals are what sources of usage show; the zero value if they show nothing.
	Signals Signals
}

// Harm is a resource whose resize made the pod worse.
type Harm struct {
	Change
	Kind    contract.Harm
	Message string
}

// Judge returns how the last resize of a pod made it worse; nothing if it did not, or if it is no
// longer observed. again is when to judge the pod again even if nothing changes; zero if that is
// not necessary.
func Judge(c *Case) (harms []Harm, again time.Time) {
	if !c.Settings.Enabled || !Observed(c.Pod, c.Settings.Window, c.Now) {
		return nil, time.Time{}
	}
	for _, change := range Changes(c.Pod, c.Settings.Window) {
		if !change.Lowers() || change.waits(c.Pod) {
			continue
		}
		for _, look := range looks {
			found := look(c, &change)
			if found.evidence != "" {
				harms = append(harms, Harm{change, found.kind, found.evidence})
				break
			}
			if later := found.again; !later.IsZero() && (again.IsZero() || later.Before(again)) {
				again = later
			}
		}
	}
	return harms, again
}

// finding is what a look at a resize found: how it made the pod worse, and the evidence. Without evidence, it
// did not, and again is when to look again if nothing changes.
type finding struct {
	kind     contract.Harm
	evidence string
	again    time.Time
}

// looks are the ways in which a resize can make a pod worse, the surest first.
var looks = [...]func(*Case, *Change) finding{
	killed, restarted, unready, near, throttled, pressured, missed,
}
