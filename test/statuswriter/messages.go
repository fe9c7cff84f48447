package statuswriter

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// The exact messages of kubelets for resizes that are Infeasible on their node for any size.
// Constants ending in 133 are the messages of kubelet 1.33, which also refuses resizes that do
// not change the resource in question.
const (
	StaticCPUManager       = `Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`
	StaticCPUManager133    = "Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy"
	StaticMemoryManager    = `Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"`
	StaticMemoryManager133 = "Resize is infeasible for Guaranteed Pods alongside Memory Manager static policy"
	Swap                   = "In-place resize of containers with swap is not supported."
	SwitchedOff            = "InPlacePodVerticalScaling is disabled"
)

// TooSmall returns the message of kubelets up to 1.35 if the node is smaller than the requested
// size of the pod: Infeasible. Amounts are in millicores or bytes.
func TooSmall(resource corev1.ResourceName, requested, capacity int64) string {
	return fmt.Sprintf("Node didn't have enough capacity: %s, requested: %d, capacity: %d", resource, requested, capacity)
}

// NoRoom returns the message of kubelets if other pods use the missing resources: Deferred.
// Amounts are in millicores or bytes.
func NoRoom(resource corev1.ResourceName, requested, used, capacity int64) string {
	return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", resource, requested, used, capacity)
}

// MemoryUnknown returns the message of kubelets since 1.34 if a resize lowers a memory limit and
// they cannot read the pod's memory usage: Error.
func MemoryUnknown(pod *corev1.Pod) string {
	return fmt.Sprintf("unable to read memory usage for pod %q", fmt.Sprintf("%s_%s(%s)", pod.Name, pod.Namespace, pod.UID))
}
