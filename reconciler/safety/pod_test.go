package safety

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// list returns a resource list from pairs of name and quantity.
func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// asks returns requirements with these requests and limits.
func asks(requests, limits corev1.ResourceList) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: requests, Limits: limits}
}

// podWith returns a pod without any veto, after the changes. Its container app requests one
// cpu and has no limit.
func podWith(changes ...func(*corev1.Pod)) *corev1.Pod {
	controller := true
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", Controller: &controller}}},
		Spec:       corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "app", Image: "none", Resources: asks(list("cpu", "1"), nil)}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

// app sets the resources of the container app.
func app(requests, limits corev1.ResourceList) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources = asks(requests, limits) }
}

// second adds a container named second.
func second(requests, limits corev1.ResourceList) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second", Image: "none", Resources: asks(requests, limits)})
	}
}

// initContainer adds an init container; sidecar adds a restartable one named proxy.
func initContainer(name string, requests, limits corev1.ResourceList) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: name, Image: "none", Resources: asks(requests, limits)})
	}
}

func sidecar(requests, limits corev1.ResourceList) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		always := corev1.ContainerRestartPolicyAlways
		initContainer("proxy", requests, limits)(p)
		p.Spec.InitContainers[len(p.Spec.InitContainers)-1].RestartPolicy = &always
	}
}

// sizesOf returns the sizes in the pod's spec.
func sizesOf(p *corev1.Pod) (s Sizes) {
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		s = append(s, sizing.FromResources(c.Resources))
	}
	return s
}

// changeTo returns the veto against resizing before to after.
func changeTo(before, after *corev1.Pod, s *Surroundings) *Veto {
	sizes := sizesOf(before)
	class := before.Status.QOSClass
	if class == "" {
		class = sizing.QOSClass(sizes)
	}
	return Change(pod.From(before), class, sizes, sizesOf(after), s)
}

// check fails the test unless the veto has the reason and, if text is not empty, the message.
// An empty reason means no veto.
func check(t *testing.T, got *Veto, want contract.Reason, text string) {
	t.Helper()
	switch {
	case got == nil && want == "":
	case got == nil:
		t.Errorf("no veto, want %s", want)
	case got.Reason != want || got.Message == "" || text != "" && got.Message != text:
		t.Errorf("veto %+v, want %q with %q", *got, want, text)
	}
}
