package safety

import (
	"fmt"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// VPA is a VerticalPodAutoscaler for the workload of a pod.
type VPA struct {
	Name string
	// Active means that it resizes running pods, and Boosts that it raises their cpu while they start.
	Active, Boosts bool
	// Policies say what it sizes in which container. It sizes all of a container without a policy.
	Policies []VPAPolicy
}

// VPAPolicy is what a VerticalPodAutoscaler sizes in a container.
type VPAPolicy struct {
	// Container is the name of the container, or "*" for all without a policy of their own.
	Container string
	// Off means that it sizes nothing.
	Off bool
	// Resources are the names of the resources that it sizes; nil for all.
	Resources []string
}

// VPAActive reports whether a VerticalPodAutoscaler with this updateMode resizes running pods.
// The default, "", does.
func VPAActive(updateMode string) bool { return updateMode != "Off" && updateMode != "Initial" }

// Sizes reports whether the autoscaler sizes a resource of a container in a pod now. Nil sizes nothing.
func (v *VPA) Sizes(of *pod.Pod, container string, m *sizing.Measure) bool {
	if v == nil {
		return false
	}
	return m == sizing.CPU && v.Boosting(of, container) || v.keepsSizing(container, m)
}

// keepsSizing reports whether the autoscaler sizes a resource of a container for good, and not only while the container starts.
func (v *VPA) keepsSizing(container string, m *sizing.Measure) bool {
	policy := v.policy(container)
	return v.Active && !policy.Off && (policy.Resources == nil || slices.Contains(policy.Resources, m.Name))
}

// Boosting reports whether the autoscaler has raised the cpu of a container while it starts, so that it is not what its
// author wrote.
func (v *VPA) Boosting(of *pod.Pod, container string) bool {
	return v.Boosts && of.VPABoosts(container)
}

func (v *VPA) policy(container string) VPAPolicy {
	return PolicyFor(container, v.Policies, func(p *VPAPolicy) string { return p.Container })
}

// PolicyFor returns the policy for a container, as the VerticalPodAutoscaler chooses it: the first with its name, or else
// the last for every container; the zero value without any.
func PolicyFor[P any](container string, all []P, name func(*P) string) (found P) {
	for i := range all {
		switch name(&all[i]) {
		case container:
			return all[i]
		case "*":
			found = all[i]
		}
	}
	return found
}

// activeVPA vetoes a resize if an autoscaler sizes all that the pod requests. The planner leaves out what it
// sizes of other pods. The planner must also record what it raises only while containers start.
func activeVPA(s Snapshot) string {
	if s.VPA == nil {
		return ""
	}
	for i := range s.Pod.Containers {
		c := &s.Pod.Containers[i]
		for _, m := range sizing.Measures {
			if !c.Init() && m.Of(&c.Spec).Request != 0 && !s.VPA.keepsSizing(c.Name(), m) {
				return ""
			}
		}
	}
	return fmt.Sprintf("VerticalPodAutoscaler %s sizes the pod's workload", s.VPA.Name)
}
