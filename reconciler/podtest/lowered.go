package podtest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Lowered is a pod whose cpu and memory a resize halved at second 10. It has restarted three times before.
func Lowered(changes ...func(*corev1.Pod)) *corev1.Pod {
	return Pod(Amounts{"500m", "500m", "512Mi", "512Mi"}, append([]func(*corev1.Pod){
		Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi",
			"applied-instance-type", "n4", "applied-sizes", "app 3 cpu 1/1>500m/500m memory 1Gi/1Gi>512Mi/512Mi"),
		ManagedBy(AsMade, ResizeOf(10, "app"), Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.AppliedSizes, contract.OriginalPrefix+"cpu.app")),
		Restarted(3, 0), Readiness(true, 5),
	}, changes...)...)
}

// WithLoweredSecond adds a container with as much as that of Lowered, and with its originals.
func WithLoweredSecond(p *corev1.Pod) {
	WithSecond(Amounts{"500m", "500m", "512Mi", "512Mi"})(p)
	Annotated("original-cpu.second", "1", "original-cpu-limit.second", "1", "original-memory.second", "1Gi", "original-memory-limit.second", "1Gi")(p)
}

// Restarted makes the container have restarted, after ending with a code.
func Restarted(count, code int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "app", RestartCount: count, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", FinishedAt: metav1.NewTime(At(20))}},
		}}
	}
}

// Readiness makes the pod and its container ready or not since a time.
func Readiness(ready bool, seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		status := corev1.ConditionFalse
		if ready {
			status = corev1.ConditionTrue
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(At(seconds))}}
		p.Status.ContainerStatuses[0].Ready = ready
	}
}

// MemoryReverted makes the memory of a Lowered pod have been reverted at second 60.
func MemoryReverted(p *corev1.Pod) {
	p.Spec.Containers[0].Resources = Amounts{"500m", "500m", "1Gi", "1Gi"}.Requirements()
	Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/512Mi","back":"1Gi/1Gi","times":1,"harm":"OOMKilled","message":""}]`)(p)
	ManagedBy(AsMade, ResizeOf(60, "app"), Managed(contract.FieldManager, "", 59, contract.AppliedAt, contract.AppliedSizes, contract.Reverts, contract.OriginalPrefix+"cpu.app"))(p)
}
