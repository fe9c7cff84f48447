package pod

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestKills(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	ended := func(reason string, at time.Time) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, FinishedAt: metav1.NewTime(at)}}
	}
	memory := func(request, limit string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(request)},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
		}
	}
	spec := corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "proxy", Resources: memory("100", "200")}},
		Containers:     []corev1.Container{{Name: "main", Resources: memory("1000", "2000")}, {Name: "free"}},
	}
	actual := memory("1500", "3000")
	target := []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at.Add(time.Hour))},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)},
	}
	const message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. "
	for _, test := range []struct {
		name   string
		status corev1.PodStatus
		want   []Kill
	}{
		{"none without a kill", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", State: ended("Completed", at), LastTerminationState: ended("Error", at)},
		}}, nil},
		{"the last state and the current one", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", LastTerminationState: ended("OOMKilled", at), State: ended("OOMKilled", at.Add(time.Minute))},
		}}, []Kill{{"main", at, 2000, 1000, 0}, {"main", at.Add(time.Minute), 2000, 1000, 0}}},
		{"the resources that the kubelet reports", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "free"}, {Name: "main", LastTerminationState: ended("OOMKilled", at), Resources: &actual},
		}}, []Kill{{"main", at, 3000, 1500, 0}}},
		{"no limit of a container without one", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "free", State: ended("OOMKilled", at)},
		}}, []Kill{{"free", at, 0, 0, 0}}},
		{"sidecars", corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{
			{Name: "proxy", LastTerminationState: ended("OOMKilled", at)},
		}}, []Kill{{"proxy", at, 200, 100, 0}}},
		{"an eviction with what each container used", corev1.PodStatus{
			Reason: "Evicted", Conditions: target,
			Message: message + "Container main was using 2Ki, request is 1000, has larger consumption of memory. Container free was using 5000, request is 0, has larger consumption of memory. ",
		}, []Kill{{"main", at, 2000, 1000, 2048}, {"free", at, 0, 0, 5000}}},
		{"an eviction when the last container ended", corev1.PodStatus{
			Reason: "Evicted", Message: message + "Container main was using 2Ki, request is 1000, has larger consumption of memory. ",
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: ended("Error", at)}, {Name: "free", State: ended("Error", at.Add(-time.Minute))}},
		}, []Kill{{"main", at, 2000, 1000, 2048}}},
		{"no eviction because of something else", corev1.PodStatus{
			Reason: "Evicted", Conditions: target,
			Message: "The node was low on resource: ephemeral-storage. Container main was using 2Gi, request is 0, has larger consumption of ephemeral-storage. ",
		}, nil},
		{"no eviction with a usage that is no number", corev1.PodStatus{
			Reason: "Evicted", Conditions: target, Message: message + "Container main was using much, request is 0, has larger consumption of memory. ",
		}, nil},
		{"no message of a pod that was not evicted", corev1.PodStatus{
			Message: message + "Container main was using 2Ki, request is 1000, has larger consumption of memory. ",
		}, nil},
	} {
		t.Run("are "+test.name, func(t *testing.T) {
			if got := Kills(&corev1.Pod{Spec: spec, Status: test.status}); !slices.Equal(got, test.want) {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
