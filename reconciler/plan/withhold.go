package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// MemoryLimitsShrink is the first version of API servers and of kubelets that let
// memory limits shrink safely without a restart.
var MemoryLimitsShrink = version.MustParseGeneric("1.34")

// withhold takes out of a plan what cannot be changed without a restart, or not
// at all, and leaves the rest.
func (p *Planner) withhold(plan *Plan, s *Snapshot) {
	kept := false
	for i := range plan.Containers {
		c := &plan.Containers[i]
		for _, r := range sizing.Measures {
			if to, has := r.Of(&c.Desired), *r.Of(&c.Current); *to != has && c.of.Restarts(r) {
				*to, c.clamped[r.Index] = has, false
				plan.because(contract.RestartRequired, fmt.Sprintf("container %s: %s stays, its resizePolicy is RestartContainer", c.Name, r.Name))
			}
		}
		if c.Desired.Memory.Limit < c.Current.Memory.Limit && p.keepsMemoryLimits(s) {
			c.Desired.Memory.Limit = c.Current.Memory.Limit
			kept = true
			plan.because(contract.MemoryLimitKept, fmt.Sprintf("container %s: memory limit stays %s", c.Name, sizing.MemoryText(c.Current.Memory.Limit)))
		}
	}
	if !kept || plan.classAfter(s.Pod) == plan.QOSClass {
		return
	}
	// With its limit kept, a smaller request would change the class: then
	// the pod's memory stays as a whole.
	for i := range plan.Containers {
		c := &plan.Containers[i]
		c.Desired.Memory, c.clamped[sizing.Memory.Index] = c.Current.Memory, false
	}
	plan.because(contract.MemoryLimitKept, fmt.Sprintf("memory stays as a whole, for the pod to remain %s", plan.QOSClass))
}

// keepsMemoryLimits reports whether memory limits must not shrink on the pod's node. The API
// server of Kubernetes 1.33 refuses it; later ones pass it on to kubelets of any
// version, and one of 1.33 kills or hangs a container whose limit falls below what it
// uses (kubernetes#129152). No declared feature of a node tells, up to Kubernetes 1.37.
func (p *Planner) keepsMemoryLimits(s *Snapshot) bool {
	node := s.Around.Node
	switch {
	case p.KeepMemoryLimits:
		return true
	case node == nil:
		return s.NodeType == "" // One that is only imagined has a kubelet that does.
	}
	kubelet, err := version.ParseGeneric(node.Status.NodeInfo.KubeletVersion)
	return err != nil || kubelet.LessThan(MemoryLimitsShrink)
}

// withheld tells whether something was taken out of the plan.
func (p *Plan) withheld() bool {
	return slices.ContainsFunc(p.Reasons, isWithheld)
}

func isWithheld(r Reason) bool {
	return r.Code == contract.RestartRequired || r.Code == contract.MemoryLimitKept
}
