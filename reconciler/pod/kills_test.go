package pod

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// TestLimitAtTheKill looks at kills of a pod that was resized.
func TestLimitAtTheKill(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	const limit, request = `{"f:resources":{"f:limits":{"f:memory":{}}}}`, `{"f:resources":{"f:requests":{"f:memory":{}}}}`
	entry := func(manager, subresource string, after time.Duration, fields string) metav1.ManagedFieldsEntry {
		e := metav1.ManagedFieldsEntry{
			Manager: manager, Subresource: subresource, Operation: metav1.ManagedFieldsOperationUpdate,
			FieldsType: "FieldsV1", Time: &metav1.Time{Time: at.Add(after)},
		}
		e.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":` + fields + `}`)
		return e
	}
	main := func(fields string) string { return `{"f:containers":{"k:{\"name\":\"main\"}":` + fields + `}}` }
	proxy := func(fields string) string { return `{"f:initContainers":{"k:{\"name\":\"proxy\"}":` + fields + `}}` }
	for _, test := range []struct {
		name  string
		entry metav1.ManagedFieldsEntry
		want  [2]int64 // of main and proxy
	}{
		{"created with it", entry("kubectl", "", time.Hour, main(limit)), [2]int64{2000, 200}},
		{"resized before", entry("vpa", "resize", -time.Second, main(limit)), [2]int64{2000, 200}},
		{"resized since then", entry("vpa", "resize", time.Second, main(limit)), [2]int64{0, 200}},
		{"resized in the same second", entry("vpa", "resize", 0, main(limit)), [2]int64{0, 200}},
		{"a resized sidecar", entry("vpa", "resize", time.Hour, proxy(limit)), [2]int64{2000, 0}},
		{"a resized request", entry("vpa", "resize", time.Hour, main(request)), [2]int64{2000, 200}},
		{"a status that the kubelet wrote", entry("kubelet", "status", time.Hour, main(limit)), [2]int64{2000, 200}},
		{"merged entries", entry("ancient-changes", "", time.Hour, main(limit)), [2]int64{0, 200}},
	} {
		t.Run(test.name, func(t *testing.T) {
			memory := func(limit string) corev1.ResourceRequirements {
				return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}}
			}
			killed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(at)}}
			p := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{test.entry}},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "proxy", Resources: memory("200")}},
					Containers:     []corev1.Container{{Name: "free"}, {Name: "main", Resources: memory("2000")}},
				},
				Status: corev1.PodStatus{
					InitContainerStatuses: []corev1.ContainerStatus{{Name: "proxy", LastTerminationState: killed}},
					ContainerStatuses:     []corev1.ContainerStatus{{Name: "main", LastTerminationState: killed}},
				},
			}
			kills := Kills(p)
			if len(kills) != 2 || kills[1].Limit != test.want[0] || kills[0].Limit != test.want[1] {
				t.Errorf("%+v, want limits %v of main and proxy", kills, test.want)
			}
		})
	}
}

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
		}}, []Kill{{"main", at, 2000, 1000, 0, 0}, {"main", at.Add(time.Minute), 2000, 1000, 0, 0}}},
		{"how long the container had run", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				Reason: "OOMKilled", StartedAt: metav1.NewTime(at.Add(-time.Hour)), FinishedAt: metav1.NewTime(at),
			}}},
		}}, []Kill{{"main", at, 2000, 1000, 0, time.Hour}}},
		{"the resources that the kubelet reports", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "free"}, {Name: "main", LastTerminationState: ended("OOMKilled", at), Resources: &actual},
		}}, []Kill{{"main", at, 3000, 1500, 0, 0}}},
		{"no limit of a container without one", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "free", State: ended("OOMKilled", at)},
		}}, []Kill{{"free", at, 0, 0, 0, 0}}},
		{"sidecars", corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{
			{Name: "proxy", LastTerminationState: ended("OOMKilled", at)},
		}}, []Kill{{"proxy", at, 200, 100, 0, 0}}},
		{"an eviction with what each container used", corev1.PodStatus{
			Reason: "Evicted", Conditions: target,
			Message: message + "Container main was using 2Ki, request is 1000, has larger consumption of memory. Container free was using 5000, request is 0, has larger consumption of memory. ",
		}, []Kill{{"main", at, 2000, 1000, 2048, 0}, {"free", at, 0, 0, 5000, 0}}},
		{"an eviction when the last container ended", corev1.PodStatus{
			Reason: "Evicted", Message: message + "Container main was using 2Ki, request is 1000, has larger consumption of memory. ",
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: ended("Error", at)}, {Name: "free", State: ended("Error", at.Add(-time.Minute))}},
		}, []Kill{{"main", at, 2000, 1000, 2048, 0}}},
		{"no eviction because of something else", corev1.PodStatus{
			Reason: "Evicted", Conditions: target,
			Message: "The node was low on resource: ephemeral-storage. Container main was using 2Gi, request is 0, has larger consumption of ephemeral-storage. ",
		}, nil},
		{"no eviction with a usage that is no number", corev1.PodStatus{
			Reason: "Evicted", Conditions: target, Message: message + "Container main was using much, request is 0, has larger consumption of memory. ",
		}, nil},
		{"no eviction with a usage that takes minutes to read, or that no machine has", corev1.PodStatus{
			Reason: "Evicted", Conditions: target, Message: message + "Container main was using 1e-99999999, request is 0, has larger consumption of memory. Container free was using 8E, request is 0, has larger consumption of memory. ",
		}, nil},
		{"no eviction of a container that the pod does not have", corev1.PodStatus{
			Reason: "Evicted", Conditions: target, Message: message + "Container other was using 2Ki, request is 0, has larger consumption of memory. ",
		}, nil},
		{"one eviction of each container at most", corev1.PodStatus{
			Reason: "Evicted", Conditions: target,
			Message: message + strings.Repeat("Container main was using 2Ki, request is 1000, has larger consumption of memory. Container main was using 3Ki, request is 1000, has larger consumption of memory. ", 10_000),
		}, []Kill{{"main", at, 2000, 1000, 2048, 0}}},
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

// All containers of a pod may be killed, and each change to the status is read while other pods wait.
func TestManyKills(t *testing.T) {
	const containers = 1000
	var fields []string
	p := &corev1.Pod{}
	for i := range containers {
		name := fmt.Sprint("container-", i)
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: name})
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled"}}})
		fields = append(fields, `"k:{\"name\":\"`+name+`\"}":{"f:resources":{"f:limits":{"f:memory":{}}}}`)
	}
	text := `{"f:spec":{"f:containers":{` + strings.Join(fields, ",") + `}}}`
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "vpa", Subresource: "resize", FieldsV1: metav1.NewFieldsV1(text)}}
	footprint.CheckAllocated(t, len(text), func() {
		if kills := From(p).Kills(); len(kills) != containers {
			t.Errorf("%d kills", len(kills))
		}
	})
}
