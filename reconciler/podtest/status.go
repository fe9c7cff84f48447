package podtest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Said is a condition of a resize, about a generation or since a second.
func Said(kind corev1.PodConditionType, reason string, generation int64, seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Generation = 5
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: "why", ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(At(seconds)),
		})
	}
}

// Seen is the generation that the kubelet has seen.
func Seen(generation int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Generation, p.Status.ObservedGeneration = 5, generation }
}

// WithStatus is a running container that was allocated something, and runs with
// something.
func WithStatus(allocated, resources Amounts) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		r := resources.Requirements()
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "app", AllocatedResources: allocated.Requirements().Requests, Resources: &r,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}
	}
}

// StaticCPU is what a kubelet with static CPUs says, whatever the amounts are.
const StaticCPU = `Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`
