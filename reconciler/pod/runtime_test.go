package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestRuntimeID(t *testing.T) {
	if a, b := RuntimeIDOf("containerd://0123"), RuntimeIDOf("0123"); a != b || a == 0 {
		t.Errorf("%x with the name of the runtime and %x without", a, b)
	}
	if RuntimeIDOf("0123") == RuntimeIDOf("0124") {
		t.Error("two IDs have the same hash")
	}
	for _, none := range []string{"", "containerd://"} {
		if id := RuntimeIDOf(none); id != 0 {
			t.Errorf("%q is %x", none, id)
		}
	}
	p := From(&corev1.Pod{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, {Name: "b"}}, InitContainers: []corev1.Container{{Name: "c"}}},
		Status: corev1.PodStatus{
			ContainerStatuses: []corev1.ContainerStatus{{Name: "b", ContainerID: "containerd://0b", LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ContainerID: "containerd://0a"},
			}}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "c", ContainerID: "containerd://0c"}},
		},
	})
	for id, want := range map[string]string{"0a": "b", "0b": "b", "0c": "c", "0d": "", "": ""} {
		got := ""
		for i := range p.Containers {
			if p.Containers[i].Ran(RuntimeIDOf(id)) {
				got += p.Containers[i].Name()
			}
		}
		if got != want {
			t.Errorf("%q is container %q, want %q", id, got, want)
		}
	}
}
