package reconciler

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// computeClass is the node selector whose value the configuration's
// computeClasses match.
const computeClass = "cloud.google.com/compute-class"

// ruling is what the ratios say of a pod on its node.
type ruling struct {
	nodetype.Match
	profile *ratios.Profile
	// entry is nil if the node is not known, or its type has no ratio.
	entry *ratios.Entry
}

func (p *Planner) rule(pod *corev1.Pod, node *corev1.Node, table *ratios.Table) ruling {
	r := ruling{profile: table.Profile(ratios.Subject{
		Labels: pod.Labels, Annotations: pod.Annotations, ComputeClass: pod.Spec.NodeSelector[computeClass],
	})}
	if node == nil {
		return r
	}
	r.Match, _ = p.NodeTypes.Resolve(node.Labels, r.profile.Knows)
	if entry, ok := r.profile.Lookup(r.NodeType); ok {
		r.entry = entry
	}
	return r
}

// sizesAs tells whether another ruling comes to the same sizes for every pod.
func (r *ruling) sizesAs(o *ruling) bool {
	if r.Match != o.Match || (r.entry == nil) != (o.entry == nil) {
		return false
	}
	return r.entry == nil || r.entry.CPUFactor == o.entry.CPUFactor && r.entry.MemoryFactor == o.entry.MemoryFactor && r.profile.Bounds == o.profile.Bounds
}
