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
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "b", ContainerID: "containerd://0b"}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "c", ContainerID: "containerd://0c"}},
		},
	})
	for i, want := range []RuntimeID{0, RuntimeIDOf("0b"), RuntimeIDOf("0c")} {
		if got := p.Containers[i].Runtime(); got != want {
			t.Errorf("container %s is %x, want %x", p.Containers[i].Name(), got, want)
		}
	}
}
