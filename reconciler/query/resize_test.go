package query

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

var sizedAt = podtest.Annotated("applied-at", "2026-11-21T02:02:03+01:00")

func TestResize(t *testing.T) {
	t.Run("returns the state on the node", returnsTheStateOnTheNode)
	t.Run("returns the sizes of containers and sidecars", returnsTheSizesOfContainersAndSidecars)
	t.Run("says what the API server did not accept", saysWhatTheAPIServerDidNotAccept)
	t.Run("omits what it cannot read", omitsWhatItCannotRead)
	t.Run("returns nil for a pod that was never sized", returnsNilForAPodThatWasNeverSized)
}

func returnsTheStateOnTheNode(t *testing.T) {
	small := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	pending, progress := corev1.PodResizePending, corev1.PodResizeInProgress
	seen := func(generation int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Generation, p.Status.ObservedGeneration = 5, generation }
	}
	for _, tc := range []struct {
		name    string
		says    []func(*corev1.Pod)
		state   ResizeState
		message string
	}{
		{"Actuated if the containers run with the spec", []func(*corev1.Pod){podtest.WithStatus(small, small), seen(5)}, Actuated, ""},
		{"Actuated if an old kubelet reports nothing", nil, Actuated, ""},
		{"Pending if the kubelet has not seen the spec", []func(*corev1.Pod){podtest.WithStatus(small, small), seen(4)}, Pending, ""},
		{"Pending if the containers run with the previous sizes and there is no condition", []func(*corev1.Pod){podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed), seen(5)}, Pending, ""},
		{"InProgress", []func(*corev1.Pod){podtest.WithStatus(small, podtest.Guaranteed), podtest.Said(progress, "", 5, 20)}, InProgress, "why"},
		{"Deferred if there is no room now", []func(*corev1.Pod){podtest.Said(pending, "Deferred", 5, 20)}, Deferred, "why"},
		{"Infeasible if there is never room", []func(*corev1.Pod){podtest.Said(pending, "Infeasible", 5, 20)}, Infeasible, "why"},
		{"Failed on an error", []func(*corev1.Pod){podtest.Said(progress, "Error", 5, 20)}, Failed, "why"},
		{"the most severe of several conditions", []func(*corev1.Pod){podtest.Said(progress, "", 5, 20), podtest.Said(pending, "Infeasible", 5, 20)}, Infeasible, "why"},
		{"Actuated if the condition is for previous sizes", []func(*corev1.Pod){podtest.WithStatus(small, small), podtest.Said(pending, "Deferred", 4, 20)}, Actuated, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ResizeOf(pod.From(podtest.Pod(small, append(tc.says, podtest.SizedForN4, podtest.AsResized)...)))
			if got == nil || got.State != tc.state || got.Message != tc.message {
				t.Errorf("got %+v, want %v %q", got, tc.state, tc.message)
			}
		})
	}
}

func returnsTheSizesOfContainersAndSidecars(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	small := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	p := podtest.Pod(small, podtest.WithStatus(small, small), podtest.SizedForN4, sizedAt, podtest.AsResized, podtest.ManagedBy(podtest.SidecarResize), podtest.Annotated("original-cpu.proxy", "100m"), func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "without"})
		p.Spec.InitContainers = []corev1.Container{
			{Name: "init", Resources: podtest.Guaranteed.Requirements()},
			{Name: "proxy", RestartPolicy: &always, Resources: podtest.Amounts{"80m"}.Requirements()},
		}
	})
	want := &Resized{
		Pod: types.NamespacedName{Namespace: "default", Name: "pod"}, UID: "uid", Node: "node", NodeType: "n4",
		Workload: workload.Workload{Kind: "Deployment", Name: "web"},
		Applied:  time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC),
		Labels:   pod.From(p).Labels(),
		Containers: []ResizedContainer{
			{Name: "app", Original: podtest.Amounts{"1", "1", "1Gi", "1Gi"}.Container(), Spec: small.Container(), Actual: small.Container(), Told: true},
			{Name: "proxy", Original: podtest.Amounts{"100m"}.Container(), Spec: podtest.Amounts{"80m"}.Container(), Sidecar: true},
		},
	}
	workloads := []workload.Workload{{Kind: "ReplicaSet", Name: "web-x1"}, {Kind: "Deployment", Name: "web"}}
	texts := cmp.Transformer("texts", func(t pod.Texts) map[string]string { return maps.Collect(t.All()) })
	if diff := cmp.Diff(want, ResizeOf(pod.From(p), workloads...), texts); diff != "" {
		t.Error(diff)
	}
	if !want.same(ResizeOf(pod.From(p), workloads...)) {
		t.Error("a second call returns another result")
	}
}

func saysWhatTheAPIServerDidNotAccept(t *testing.T) {
	small := podtest.Amounts{"800m", "", "1Gi", ""}
	p := podtest.Pod(small, podtest.WithStatus(small, small), podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "applied-instance-type", "n4",
		"infeasible", "2026-11-21T01:02:03Z "+pod.APIServer(7)+" ResizeFailed a policy says no"))
	p.ManagedFields = append(p.ManagedFields, podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible))
	if got := ResizeOf(pod.From(p)); got.State != Failed || got.Message != "a policy says no" {
		t.Errorf("state %v, message %q", got.State, got.Message)
	}
}

func omitsWhatItCannotRead(t *testing.T) {
	small := podtest.Amounts{"800m", "", "1Gi", ""}
	got := ResizeOf(pod.From(podtest.Pod(small, podtest.AsResized, podtest.Annotated("applied-instance-type", "n4", "applied-at", "yesterday", "original-cpu.app", "much", "original-memory.app", "1Gi"))))
	if got == nil || !got.Applied.IsZero() || len(got.Containers) != 1 {
		t.Fatalf("got %+v", got)
	}
	if c := got.Containers[0]; c.Original.CPU.Request != 0 || c.Spec != small.Container() || c.Told {
		t.Errorf("container %+v", c)
	}
}

func returnsNilForAPodThatWasNeverSized(t *testing.T) {
	if got := ResizeOf(pod.From(podtest.Pod(podtest.Guaranteed, podtest.Annotated("original-cpu.app", "1")))); got != nil {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkResizeOfAPodThatWasNeverSized(b *testing.B) {
	p := podtest.Pod(podtest.Guaranteed)
	for b.Loop() {
		if !ResizeOf(pod.From(p)).same(ResizeOf(pod.From(p))) {
			b.Fatal("the result has changed")
		}
	}
}

func BenchmarkResizeOf(b *testing.B) {
	small := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	p := podtest.Pod(small, podtest.WithStatus(small, small), podtest.SizedForN4, sizedAt, podtest.AsResized)
	for b.Loop() {
		if !ResizeOf(pod.From(p)).same(ResizeOf(pod.From(p))) {
			b.Fatal("the result has changed")
		}
	}
}
