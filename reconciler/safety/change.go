package safety

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Surroundings are the parts of a pod's node and namespace that limit its size. A
// missing field causes no veto.
type Surroundings struct {
	node.Room
	// LimitRanges are the LimitRanges of the pod's namespace.
	LimitRanges []*corev1.LimitRange
	// Quotas are the ResourceQuotas of the pod's namespace.
	Quotas []*corev1.ResourceQuota
	// Infeasible are the kubelet's messages about resizes that it can never satisfy, for
	// any size.
	Infeasible []string
}

// ChangeReasons are the reasons of Change, in the order of its checks.
var ChangeReasons = []contract.Reason{
	contract.QOSClassChange, contract.LimitRangeViolation, contract.ResizeInfeasible, contract.NodePressure, contract.NodeCapacity, contract.QuotaExceeded,
}

// change is the input of the checks of Change. Each check returns its message, or "" if it
// does not veto the resize.
type change struct {
	pod           *pod.Pod
	class         corev1.PodQOSClass
	before, after Sizes
	grows         growth
	*Surroundings
}

// Change returns the first veto against a resize of the pod; nil if there is none, or if
// nothing changes. class is the pod's QoS class, and before are the sizes in its spec.
func Change(p *pod.Pod, class corev1.PodQOSClass, before, after Sizes, s *Surroundings) *Veto {
	if before.equal(after) {
		return nil
	}
	c := &change{p, class, before, after, growing(before, after), s}
	// These are calls, not a table as in Scope, to avoid allocating c.
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
