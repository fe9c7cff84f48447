package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// MemoryLimitsShrink is the first version of API servers and kubelets that can lower memory
// limits safely without a restart.
var MemoryLimitsShrink = version.MustParseGeneric("1.34")

// withhold removes changes from the plan that are impossible, or impossible without a restart.
func (p *Planner) withhold(plan *Plan, s *Snapshot) {
	kept := false
	for i := range plan.Containers {
		c := &plan.Containers[i]
		for _, r := range sizing.Measures {
			if to, has := r.Of(&c.Desired), *r.Of(&c.Current); *to != has && c.of.Restarts(r) {
				*to, c.clamped[r.Index] = has, false
				plan.because(contract.RestartRequired, fmt.Sprintf("container %s: %s stays because its resizePolicy is RestartContainer", c.Name, r.Name))
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
	// With an unchanged limit, a smaller request would change the class, so all memory of
	// the pod stays.
	for i := range plan.Containers {
		c := &plan.Containers[i]
		c.Desired.Memory, c.clamped[sizing.Memory.Index] = c.Current.Memory, false
	}
	plan.because(contract.MemoryLimitKept, fmt.Sprintf("the memory of all containers stays, so that the pod remains %s", plan.QOSClass))
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

// keepSingletonLimits keeps the limits of the only pod of its controller from shrinking, and each request that
// equals its limit: it must stay equal to it. Pods of other versions do not count, because an update ends them.
func (p *Plan) keepSingletonLimits(s *Snapshot, settings *policy.Guard) {
	if !settings.KeepSingletonLimits || slices.ContainsFunc(s.Siblings(), func(o *pod.Pod) bool {
		return o.UID != s.Pod.UID && o.Lives() && o.Controller().UID == s.Pod.Controller().UID
	}) {
		return
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, m := range sizing.Measures {
			has, to := *m.Of(&c.Current), m.Of(&c.Desired)
			if to.Limit == 0 || to.Limit >= has.Limit {
				continue
			}
			if to.Limit = has.Limit; has.Request == has.Limit {
				*to, c.clamped[m.Index] = has, false
			}
			p.because(contract.SingletonLimitKept, fmt.Sprintf("container %s: %s limit stays %s, because the pod is the only one of its workload", c.Name, m.Name, m.Text(has.Limit)))
			p.replanAt(s.Now.Add(settings.Window)) // By then, it may have siblings.
			p.keepsFromHurt(s.Pod, c, m)
		}
	}
}
