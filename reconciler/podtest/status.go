package podtest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Said adds a condition of a resize, with the generation that it is about and its last
// transition in seconds after Start.
func Said(kind corev1.PodConditionType, reason string, generation int64, seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Generation = 5
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: "why", ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(At(seconds)),
		})
	}
}

// Seen sets the generation that the kubelet has observed.
func Seen(generation int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Generation, p.Status.ObservedGeneration = 5, generation }
}

// WithStatus adds the status of a running container: its allocated resources, and the
// resources that it runs with.
func WithStatus(allocated, resources Amounts) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		r := resources.Requirements()
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "app", AllocatedResources: allocated.Requirements().Requests, Resources: &r,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}
	}
}

// StaticCPU is the message of a kubelet with the static CPU manager policy, for any size.
const StaticCPU = `Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`
