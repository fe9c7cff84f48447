package statuswriter

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// What kubelets say of resizes that are Infeasible on their node whatever the amounts,
// word for word. Those with 133 are what a kubelet 1.33 says instead, which also
// refuses resizes that leave the resource in question as it is.
const (
	StaticCPUManager       = `Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`
	StaticCPUManager133    = "Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy"
	StaticMemoryManager    = `Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"`
	StaticMemoryManager133 = "Resize is infeasible for Guaranteed Pods alongside Memory Manager static policy"
	Swap                   = "In-place resize of containers with swap is not supported."
	SwitchedOff            = "InPlacePodVerticalScaling is disabled"
)

// TooSmall is what kubelets up to 1.35 say where the node is smaller than the pod is to
// be: Infeasible. Amounts are in millicores or bytes.
func TooSmall(resource corev1.ResourceName, requested, capacity int64) string {
	return fmt.Sprintf("Node didn't have enough capacity: %s, requested: %d, capacity: %d", resource, requested, capacity)
}

// NoRoom is what kubelets say where other pods have what is missing: Deferred. Amounts
// are in millicores or bytes.
func NoRoom(resource corev1.ResourceName, requested, used, capacity int64) string {
	return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", resource, requested, used, capacity)
}

// MemoryUnknown is what kubelets since 1.34 say where a memory limit is to shrink and
// they cannot tell what the pod uses: Error.
func MemoryUnknown(pod *corev1.Pod) string {
	return fmt.Sprintf("unable to read memory usage for pod %q", fmt.Sprintf("%s_%s(%s)", pod.Name, pod.Namespace, pod.UID))
}
