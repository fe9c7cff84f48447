package workload_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// settings apply to all tests. Their pods are resized at second 10.
var settings = policy.Guard{Enabled: true, Window: 5 * time.Minute, Restarts: 2, Unready: time.Minute, Cooldown: 10 * time.Minute, MaxUnproven: intstr.FromString("10%")}

// resized is a pod whose cpu and memory were lowered.
func resized(changes ...func(*corev1.Pod)) *corev1.Pod {
	return podtest.Pod(podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}, append([]func(*corev1.Pod){
		podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi",
			"applied-instance-type", "n4", "applied-sizes", "app 3 cpu 1/1>500m/500m memory 1Gi/1Gi>512Mi/512Mi"),
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.AppliedSizes, contract.OriginalPrefix+"cpu.app")),
		restarts(3, 0), readiness(true, 5),
	}, changes...)...)
}

// record replaces what the resize changed.
func record(text string) func(*corev1.Pod) { return podtest.Annotated("applied-sizes", text) }

// withSecond adds a container with as much as the first one has, and with its originals.
func withSecond(p *corev1.Pod) {
	podtest.WithSecond(podtest.Amounts{"500m", "500m", "512Mi", "512Mi"})(p)
	podtest.Annotated("original-cpu.second", "1", "original-cpu-limit.second", "1", "original-memory.second", "1Gi", "original-memory-limit.second", "1Gi")(p)
}

// restarts makes the container have restarted, after ending with a code.
func restarts(count, code int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "app", RestartCount: count, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", FinishedAt: metav1.NewTime(podtest.At(20))}},
		}}
	}
}

// memoryBack puts memory back at second 60.
func memoryBack(p *corev1.Pod) {
	p.Spec.Containers[0].Resources = podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}.Requirements()
	podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/512Mi","back":"1Gi/1Gi","times":1,"harm":"OOMKilled","message":""}]`)(p)
	podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(60, "app"), podtest.Managed(contract.FieldManager, "", 59, contract.AppliedAt, contract.AppliedSizes, contract.Reverts, contract.OriginalPrefix+"cpu.app"))(p)
}

// readiness makes the pod and its container ready or not since a time.
func readiness(ready bool, seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		status := corev1.ConditionFalse
		if ready {
			status = corev1.ConditionTrue
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(podtest.At(seconds))}}
		p.Status.ContainerStatuses[0].Ready = ready
	}
}
