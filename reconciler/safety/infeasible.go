package safety

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// limitation is what a node cannot do whatever the amounts are.
type limitation struct {
	// said is what its kubelet says to a resize then.
	said string
	// concerns reports whether a container's resize needs it. The pod's QoS class and
	// the container before and after are given.
	concerns func(class corev1.PodQOSClass, before, after sizing.Container) bool
}

// limitations are those of kubelets 1.33 to 1.36
// (pkg/kubelet/allocation/handlers.go, before 1.34 pkg/kubelet/kubelet.go).
var limitations = [...]limitation{
	{`Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`, func(class corev1.PodQOSClass, before, after sizing.Container) bool {
		return class == corev1.PodQOSGuaranteed && before.CPU.Request != after.CPU.Request
	}},
	{`Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"`, func(class corev1.PodQOSClass, before, after sizing.Container) bool {
		return class == corev1.PodQOSGuaranteed && before.Memory.Request != after.Memory.Request
	}},
	// Before Kubernetes 1.34, any resize.
	{"Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy", guaranteed},
	{"Resize is infeasible for Guaranteed Pods alongside Memory Manager static policy", guaranteed},
	// Containers of Burstable pods may swap, if their memory is not limited to what
	// they request.
	{"In-place resize of containers with swap is not supported.", func(class corev1.PodQOSClass, before, after sizing.Container) bool {
		return class == corev1.PodQOSBurstable && before.Memory.Request != after.Memory.Request && before.Memory.Request != before.Memory.Limit
	}},
}

func guaranteed(class corev1.PodQOSClass, _, _ sizing.Container) bool {
	return class == corev1.PodQOSGuaranteed
}

func limitationOf(message string) *limitation {
	for i := range limitations {
		if strings.Contains(message, limitations[i].said) {
			return &limitations[i]
		}
	}
	return nil
}

// WhateverTheAmounts returns what a kubelet that says so of a resize says of all pods of
// the kind on its node, whatever their amounts are; empty if it is about these amounts.
func WhateverTheAmounts(message string) string {
	if l := limitationOf(message); l != nil {
		return l.said
	}
	return ""
}

// infeasible tells what the node has said that it cannot do.
func (c *change) infeasible() string {
	for _, message := range c.Infeasible {
		l := limitationOf(message)
		if l == nil {
			continue
		}
		for i, before := range c.before {
			if after := c.after[i]; before != after && l.concerns(c.class, before, after) {
				return fmt.Sprintf("node %s has said to another resize: %s", c.pod.Node(), message)
			}
		}
	}
	return ""
}
