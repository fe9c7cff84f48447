package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podWith returns a pod with one container, whose originals are 500m/2 and 1Gi/1Gi.
func podWith(namespace, specCPU, statusCPU string, annotated bool) *corev1.Pod {
	resources := func(cpu string) corev1.ResourceRequirements {
		request, limit, _ := strings.Cut(cpu, "/")
		return corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse(request), "memory": resource.MustParse("1Gi")},
			Limits:   corev1.ResourceList{"cpu": resource.MustParse(limit), "memory": resource.MustParse("1Gi")},
		}
	}
	status := resources(statusCPU)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: types.UID(namespace)},
		Spec:       corev1.PodSpec{NodeName: "n4-0", Containers: []corev1.Container{{Name: "app", Resources: resources(specCPU)}}},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Resources: &status}}},
	}
	if annotated {
		pod.Annotations = map[string]string{
			"workload-resizer.io/original-cpu.app":          "500m",
			"workload-resizer.io/original-cpu-limit.app":    "2",
			"workload-resizer.io/original-memory.app":       "1Gi",
			"workload-resizer.io/original-memory-limit.app": "1Gi",
		}
	}
	return pod
}

func TestTracker(t *testing.T) {
	t.Run("a resize is shown once the kubelet reports it", aResizeIsShownOnceTheKubeletReportsIt)
	t.Run("the header is repeated after other text", theHeaderIsRepeatedAfterOtherText)
	t.Run("progress of other programs uses the same clock", progressOfOtherProgramsUsesTheSameClock)
}

func aResizeIsShownOnceTheKubeletReportsIt(t *testing.T) {
	for _, test := range []struct {
		name string
		seen []*corev1.Pod
		want []string
	}{
		{"a pod as written is not shown", []*corev1.Pod{
			podWith("samples", "500m/2", "500m/2", false),
			podWith("samples", "500m/2", "500m/2", true),
		}, nil},
		{"a resize is shown once, when it is in the status", []*corev1.Pod{
			podWith("samples", "500m/2", "500m/2", false),
			podWith("samples", "400m/1600m", "500m/2", true),
			podWith("samples", "400m/1600m", "400m/1600m", true),
			podWith("samples", "400m/1600m", "400m/1600m", true),
		}, []string{"web n4-0 n4 app 500m/2 → 400m/1600m 1Gi/1Gi"}},
		{"a pod that is already resized when first seen is shown", []*corev1.Pod{
			podWith("samples", "400m/1600m", "400m/1600m", true),
		}, []string{"web n4-0 n4 app 500m/2 → 400m/1600m 1Gi/1Gi"}},
		{"later resizes are shown as changes from the original", []*corev1.Pod{
			podWith("samples", "400m/1600m", "400m/1600m", true),
			podWith("samples", "333m/1332m", "333m/1332m", true),
			podWith("samples", "500m/2", "500m/2", true),
		}, []string{
			"web n4-0 n4 app 500m/2 → 400m/1600m 1Gi/1Gi",
			"web n4-0 n4 app 500m/2 → 333m/1332m 1Gi/1Gi",
			"web n4-0 n4 app back to 500m/2 1Gi/1Gi",
		}},
		{"pods in other namespaces are shown with their namespace", []*corev1.Pod{
			podWith("shop", "400m/1600m", "400m/1600m", true),
		}, []string{"shop/web n4-0 n4 app 500m/2 → 400m/1600m 1Gi/1Gi"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			tracker := newTracker(&out, func(string) string { return "n4" })
			for _, pod := range test.seen {
				tracker.observe(pod)
			}
			var got []string
			for line := range strings.Lines(out.String()) {
				if !strings.HasPrefix(line, "POD ") {
					got = append(got, strings.Join(strings.Fields(line), " "))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func theHeaderIsRepeatedAfterOtherText(t *testing.T) {
	var out bytes.Buffer
	tracker := newTracker(&out, func(string) string { return "n4" })
	tracker.observe(podWith("samples", "400m/1600m", "400m/1600m", true))
	if err := tracker.print("summary\n"); err != nil {
		t.Fatal(err)
	}
	tracker.observe(podWith("samples", "333m/1332m", "333m/1332m", true))
	want := `POD                    NODE   TYPE  CONTAINER  CPU REQUEST/LIMIT      MEMORY REQUEST/LIMIT
web                    n4-0   n4    app        500m/2 → 400m/1600m    1Gi/1Gi
summary
POD                    NODE   TYPE  CONTAINER  CPU REQUEST/LIMIT      MEMORY REQUEST/LIMIT
web                    n4-0   n4    app        500m/2 → 333m/1332m    1Gi/1Gi
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func progressOfOtherProgramsUsesTheSameClock(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	for _, part := range []string{"  3.7s  kube-api", "server is ready\n  4.9s  half"} {
		if _, err := p.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "  0.0s    kube-apiserver is ready\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
