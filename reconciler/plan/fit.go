package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// MemoryLimitsShrink is the first version of API servers and kubelets that can lower memory
// limits safely without a restart.
var MemoryLimitsShrink = version.MustParseGeneric("1.34")

// fit keeps what is impossible to change, or impossible without a restart.
func (p *Planner) fit(d *draft, s *Snapshot) *verdict {
	if s.Creating {
		return nil
	}
	v := d.says()
	kept := false
	for i := range d.Containers {
		c, restarts := &d.Containers[i], d.parts[i].of.Restarts
		for _, m := range sizing.Measures {
			if has := *m.Of(&c.Current); *m.Of(&c.Desired) != has && restarts(m) {
				v.sets = append(v.sets, Derived{Container: i, Measure: m, To: has})
				v.because(contract.RestartRequired, fmt.Sprintf("container %s: %s stays because its resizePolicy is RestartContainer", c.Name, m.Name))
			}
		}
		if has := c.Current.Memory.Limit; c.Desired.Memory.Limit < has && !restarts(sizing.Memory) && p.keepsMemoryLimits(s) {
			// The request may change as it would have.
			derived := Derived{Container: i, Measure: sizing.Memory, To: sizing.Amount{Request: c.Desired.Memory.Request, Limit: has}, Cause: causeOf(&c.Needs[sizing.Memory.Index])}
			if last := d.last(i, sizing.Memory); last != nil {
				derived.Cause, derived.Clamped = last.Cause, last.Clamped
			}
			v.sets = append(v.sets, derived)
			kept = true
			v.because(contract.MemoryLimitKept, fmt.Sprintf("container %s: memory limit stays %s", c.Name, sizing.MemoryText(has)))
		}
	}
	switch {
	case len(v.sets) == 0:
		return nil
	case !kept:
		return v
	}
	then := d.fork()
	then.set("", v.sets)
	if then.classAfter(s.Pod) == d.QOSClass {
		return v
	}
	// With an unchanged limit, a smaller request would change the class, so all memory that would be lowered stays. A
	// container that needs more gets it.
	for i := range d.Containers {
		if has := d.Containers[i].Current.Memory; grows(d.Containers[i].Desired.Memory, has) {
			v.sets = append(v.sets, Derived{Container: i, Measure: sizing.Memory, To: has})
		}
	}
	v.because(contract.MemoryLimitKept, fmt.Sprintf("the memory of all containers stays that would be lowered, so that the pod remains %s", d.QOSClass))
	return v
}

// keepsMemoryLimits reports whether memory limits must not shrink on the pod's node. The API
// server of Kubernetes 1.33 rejects such resizes. Later API servers pass them on to kubelets of
// any version, but a kubelet of 1.33 kills or hangs a container whose limit falls below its
// usage (kubernetes#129152). Up to Kubernetes 1.37, no declared feature of a node shows this.
func (p *Planner) keepsMemoryLimits(s *Snapshot) bool {
	node := s.Around.Node
	switch {
	case p.KeepMemoryLimits:
		return true
	case node == nil:
		return s.NodeType == "" // The kubelet of an imagined node can lower them.
	}
	kubelet, err := version.ParseGeneric(node.Status.NodeInfo.KubeletVersion)
	return err != nil || kubelet.LessThan(MemoryLimitsShrink)
}
