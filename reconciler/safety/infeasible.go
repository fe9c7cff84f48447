package safety

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// limitation is a kind of resize that a node cannot satisfy for any size.
type limitation struct {
	// said is the kubelet's message about such a resize.
	said string
	// concerns reports whether the limitation applies to a container's resize, given the
	// pod's QoS class and the container before and after.
	concerns func(class corev1.PodQOSClass, before, after sizing.Container) bool
}

// limitations are the limitations of kubelets 1.33 to 1.36
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
	// Containers of Burstable pods may swap if their memory limit differs from their request.
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

// WhateverTheAmounts returns the part of a kubelet's message that applies to all pods of the
// same kind on its node, for any size; empty if the message is about these amounts.
func WhateverTheAmounts(message string) string {
	if l := limitationOf(message); l != nil {
		return l.said
	}
	return ""
}

// infeasible vetoes resizes that the node has declared infeasible.
func (c *change) infeasible() string {
	for _, message := range c.Infeasible {
		l := limitationOf(message)
		if l == nil {
			continue
		}
		for i, before := range c.before {
			if after := c.after[i]; before != after && l.concerns(c.class, before, after) {
				return fmt.Sprintf("node %s answered another resize: %s", c.pod.Node(), message)
			}
		}
	}
	return ""
}
