package safety

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Surroundings is what a pod shares with others. What is missing vetoes
// nothing.
type Surroundings struct {
	// Node is the pod's node; its allocatable resources and its conditions are
	// used.
	Node *corev1.Node
	// Neighbours is the sum of Requests of the node's other pods, those that
	// have succeeded or failed left out.
	Neighbours Resources
	// LimitRanges are those of the pod's namespace.
	LimitRanges []*corev1.LimitRange
	// Quotas are those of the pod's namespace.
	Quotas []*corev1.ResourceQuota
	// Infeasible is what the kubelet has said of resizes that it can never carry out,
	// whatever the amounts are.
	Infeasible []string
}

// change is what the vetoes of Change look at. Each check returns the
// particulars, or "" where it has nothing against the resize.
type change struct {
	pod           *pod.Pod
	class         corev1.PodQOSClass
	before, after Sizes
	grows         growth
	*Surroundings
}

// Change returns the first veto against a resize of the pod; nil if there is
// none, or if nothing changes. class is the pod's QoS class, before the sizes
// that its spec has now.
func Change(p *pod.Pod, class corev1.PodQOSClass, before, after Sizes, s *Surroundings) *Veto {
	if before.equal(after) {
		return nil
	}
	c := &change{p, class, before, after, growing(before, after), s}
	// Calls, and no table as in Scope, so that c need not be allocated.
	reason, message := contract.QOSClassChange, c.otherClass()
	if message == "" {
		reason, message = contract.LimitRangeViolation, c.outsideLimitRange()
	}
	if message == "" {
		reason, message = contract.ResizeInfeasible, c.infeasible()
	}
	if message == "" {
		reason, message = contract.NodePressure, c.nodePressure()
	}
	if message == "" {
		reason, message = contract.NodeCapacity, c.beyondNode()
	}
	if message == "" {
		reason, message = contract.QuotaExceeded, c.beyondQuota()
	}
	if message == "" {
		return nil
	}
	return &Veto{reason, message}
}

func (c *change) otherClass() string {
	class := sizing.QOSClass(c.after)
	if class == c.class {
		return ""
	}
	return fmt.Sprintf("the pod is %s and would become %s", c.class, class)
}
