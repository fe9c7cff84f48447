package pod

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Runs reports whether the container runs.
func (c *Container) Runs() bool { return c.facts&runs != 0 }

// Lags reports whether the node still limits the pod as a whole to less than its containers may use
// together. A kubelet applies a resize to the pod's cgroup only while the containers run: one that
// starts later has its new limit, but the pod does not, until the next resize of the resource.
// Kubelets report the limit of the pod since Kubernetes 1.36. Less than a unit does not count: kernels
// round memory down to whole pages.
func (p *Pod) Lags(m *sizing.Measure) bool { return p.is(lags[m.Index]) }

// lags are the flags of Lags, by sizing.Measure.Index.
var lags = [...]flags{cpuLags, memoryLags}

// readLags computes the results of Lags.
func (p *Pod) readLags(status *corev1.PodStatus) {
	if status.Resources == nil || !p.is(runsSpec) || p.is(specUnseen) {
		return
	}
	whole := sizing.FromResources(corev1.ResourceRequirements{Limits: status.Resources.Limits})
	for _, m := range sizing.Measures {
		together, unlimited := int64(0), false
		for i := range p.Containers {
			if c := &p.Containers[i]; !c.Init() || c.Sidecar() {
				limit := m.Of(&c.Spec).Limit
				together, unlimited = together+limit, unlimited || limit == 0
			}
		}
		limit := m.Of(&whole).Limit
		p.flags.set(lags[m.Index], limit != 0 && !unlimited && together-limit >= m.Unit)
	}
}
