package plan

import (
	"fmt"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// align decides on a pod whose spec already has the desired size, as far as we may change it.
func (p *Planner) align(d *draft, s *Snapshot) *verdict {
	v := d.says()
	v.next, v.decision = decided, Align
	unfinished := d.sized && d.lacksAnnotations() || d.lacksMoreThanType() || d.note != ""
	resized := d.differsFromOriginals(d.ours)
	switch {
	case d.keep.left && !unfinished:
		// Everything possible is done; the reasons say what is not.
		v.decision = Skip
	case d.now.code != "":
		v.explainBounds(d)
		v.first = Reason{d.now.code, orKubeletSaysNothing(d.now.message)}
	case d.keep.left:
	case !d.withheld():
		v.explainBounds(d)
		v.first = Reason{contract.AlreadyAligned, "the pod has the size for node type " + d.NodeType}
	case d.applied == "" && !resized && !d.sized && !unfinished:
		// The pod was never changed, and cannot be.
		v.decision = Skip
	}
	if d.proof.unmeasured != "" {
		v.because(contract.NotMeasured, "not known since the last resize, so nothing is reverted because of it: "+d.proof.unmeasured)
	}
	v.explainWithheld(d)
	v.explainBoosts(d)
	if resized {
		v.explainAutoscalers(d, s, original, "compared with the original requests")
	}
	return v
}

func orKubeletSaysNothing(message string) string {
	if message == "" {
		return "the kubelet gives no details"
	}
	return message
}

// resize decides to resize the pod.
func (p *Planner) resize(d *draft, s *Snapshot) *verdict {
	v := d.says()
	v.next, v.decision = decided, Resize
	if !d.lowers() {
		v.claims = []workload.Claim{} // Increases do not wait for places.
	}
	v.explainBounds(d)
	v.explainWithheld(d)
	v.explainBoosts(d)
	v.explainAutoscalers(d, s, current, "after this resize")
	return v
}

// lowers reports whether any size becomes smaller.
func (d *draft) lowers() bool {
	return slices.ContainsFunc(d.Containers, func(c ContainerPlan) bool {
		return guard.Lowers(c.Current.CPU, c.Desired.CPU) || guard.Lowers(c.Current.Memory, c.Desired.Memory)
	})
}

// explainWithheld adds which resources are not sized by usage, because a HorizontalPodAutoscaler scales the pod's
// workload by what they request.
func (v *verdict) explainWithheld(d *draft) {
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			if why := c.Needs[m.Index].Withheld; why != "" && d.ours(i, m) {
				v.because(contract.HPAUtilization, fmt.Sprintf("container %s: %s needs what its author wrote, and is not sized by usage: %s", c.Name, m.Name, why))
			}
		}
	}
}

// explainBoosts adds which containers have more cpu because they start, and until when.
func (v *verdict) explainBoosts(d *draft) {
	if boosts := d.boosts(); boosts != "" {
		v.because(contract.StartupBoost, boosts)
	}
}

// explainAutoscalers adds what the desired sizes mean for the HorizontalPodAutoscalers of the pod's
// workload, compared with the sizes that from returns. when says which sizes these are.
func (v *verdict) explainAutoscalers(d *draft, s *Snapshot, from func(*ContainerPlan) *sizing.Container, when string) {
	scalers := s.autoscalers()
	if len(scalers) == 0 {
		return
	}
	before, after := d.sizes(s.Pod, from)
	for _, hpa := range scalers {
		if warning := safety.HPAWarning(hpa, s.Pod, before, after, when); warning != "" {
			v.because(contract.HPAUtilization, warning)
		}
	}
}
