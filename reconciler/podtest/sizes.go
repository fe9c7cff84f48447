package podtest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Guaranteed are the amounts of a Guaranteed pod.
var Guaranteed = Amounts{"1000m", "1000m", "1Gi", "1Gi"}

// Burstable are the amounts of a Burstable pod.
var Burstable = Amounts{"1", "2", "1Gi", "2Gi"}

// SizedForN4 adds the annotations of a Guaranteed pod that was sized for n4.
var SizedForN4 = Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi", "applied-instance-type", "n4")

// WithSecond adds a container like the first, with its own amounts.
func WithSecond(sizes Amounts) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		second := p.Spec.Containers[0]
		second.Name, second.Resources = "second", sizes.Requirements()
		p.Spec.Containers = append(p.Spec.Containers, second)
	}
}

// SizesOf formats the requests and limits of all containers as one string.
func SizesOf(p *corev1.Pod) string {
	var all []string
	for c := range ContainersOf(p) {
		r := c.Resources
		all = append(all, fmt.Sprintf("%s %s/%s %s/%s", c.Name, r.Requests.Cpu(), r.Limits.Cpu(), r.Requests.Memory(), r.Limits.Memory()))
	}
	return strings.Join(all, ", ")
}

// ContainersOf returns all containers: regular containers first, then init containers.
func ContainersOf(p *corev1.Pod) func(func(*corev1.Container) bool) {
	return func(yield func(*corev1.Container) bool) {
		for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range containers {
				if !yield(&containers[i]) {
					return
				}
			}
		}
	}
}

// SidecarResize is the entry of our resize of the sidecar proxy.
var SidecarResize = func() metav1.ManagedFieldsEntry {
	m := Managed(contract.FieldManager, contract.ResizeSubresource, 10)
	m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:initContainers":{` + AmountFields("proxy", contract.CPURequest) + `}}}`)
	return m
}()
