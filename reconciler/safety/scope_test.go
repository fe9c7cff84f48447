package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// running appends the status of a running container.
func running(name string, resources *corev1.ResourceRequirements) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, Resources: resources, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
	}
}

func claim(containers []corev1.Container) {
	containers[len(containers)-1].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
}

func TestScope(t *testing.T) {
	now := metav1.Now()
	bare := func(p *corev1.Pod) { p.OwnerReferences = nil }
	pending := func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }
	bestEffort := app(nil, nil)
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want contract.Reason
	}{
		{"a running pod of a ReplicaSet", podWith(), ""},
		{"only memory", podWith(app(list("memory", "1Gi"), nil)), ""},
		{"one of two containers has requests", podWith(bestEffort, second(list("cpu", "1"), nil)), ""},
		{"the skip annotation with the value false", podWith(func(p *corev1.Pod) { p.Annotations = map[string]string{contract.Skip: "false"} }), ""},
		{"the skip annotation without a value", podWith(func(p *corev1.Pod) { p.Annotations = map[string]string{contract.Skip: ""} }), ""},
		{"the skip annotation with an unknown value", podWith(func(p *corev1.Pod) { p.Annotations = map[string]string{contract.Skip: "yes"} }), contract.OptedOut},
		{"not scheduled, before other reasons", podWith(bare, pending, func(p *corev1.Pod) { p.Spec.NodeName = "" }), contract.NotScheduled},
		{"a mirror pod, although a Node owns it", podWith(func(p *corev1.Pod) {
			p.OwnerReferences[0].Kind = "Node"
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
		}), contract.StaticPod},
		{"bare", podWith(bare), contract.NotOwned},
		{"an owner that is not a controller", podWith(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), contract.NotOwned},
		{"a controller of another kind", podWith(func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Workflow" }), contract.NotOwned},
		{"a controller of the same kind in another group", podWith(func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "apps.kruise.io/v1beta1" }), contract.NotOwned},
		{"terminating", podWith(func(p *corev1.Pod) { p.DeletionTimestamp = &now }), contract.Terminating},
		{"succeeded", podWith(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), contract.Finished},
		{"failed", podWith(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), contract.Finished},
		{"opted out", podWith(func(p *corev1.Pod) { p.Annotations = map[string]string{contract.Skip: "true"} }), contract.OptedOut},
		{"not started", podWith(pending), contract.NotRunning},
		{"one of our own pods", podWith(func(p *corev1.Pod) { p.Labels = map[string]string{contract.AppLabel: contract.AppName} }), contract.OwnPod},
		{"a Windows pod", podWith(func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }), contract.WindowsPod},
		{"a pod for Windows nodes", podWith(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"kubernetes.io/os": "windows"} }), contract.WindowsPod},
		{"a pod with os Linux", podWith(func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Linux} }), ""},
		{"no requests", podWith(bestEffort), contract.NoRequests},
		{"requests of zero", podWith(app(list("cpu", "0", "memory", "0"), nil)), contract.NoRequests},
		{"a node that reports no resources", podWith(running("app", nil)), contract.ResizeUnsupported},
		{"a node that reports resources", podWith(running("app", &corev1.ResourceRequirements{})), ""},
		{"only the first running container is reported", podWith(running("app", &corev1.ResourceRequirements{}), running("second", nil)), ""},
		{"the first container does not run and the second is not reported", podWith(func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}}
		}, running("second", nil)), contract.ResizeUnsupported},
		{"pod-level resources", podWith(func(p *corev1.Pod) {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "2")}
		}), contract.PodLevelResources},
		{"an empty spec.resources", podWith(func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} }), ""},
		{"a resource claim", podWith(func(p *corev1.Pod) { claim(p.Spec.Containers) }), contract.ResourceClaims},
		{"a resource claim of an init container", podWith(initContainer("init", nil, nil), func(p *corev1.Pod) { claim(p.Spec.InitContainers) }), contract.ResourceClaims},
		{"a claim of node resources", podWith(func(p *corev1.Pod) {
			p.Status.NodeAllocatableResourceClaimStatuses = []corev1.NodeAllocatableResourceClaimStatus{{ResourceClaimName: "cpus"}}
		}), contract.ResourceClaims},
	} {
		t.Run(tc.name, func(t *testing.T) {
			check(t, Scope(Snapshot{Pod: pod.From(tc.pod), OwnerKinds: []string{"ReplicaSet", "Job"}}), tc.want, "")
		})
	}
	t.Run("paused", func(t *testing.T) {
		check(t, Scope(Snapshot{Pod: pod.From(podWith()), OwnerKinds: []string{"ReplicaSet"}, Paused: "maintenance", VPA: &VPA{Name: "web", Active: true}}), contract.Paused, "maintenance")
	})
	t.Run("a VerticalPodAutoscaler", func(t *testing.T) {
		check(t, Scope(Snapshot{Pod: pod.From(podWith()), OwnerKinds: []string{"ReplicaSet"}, VPA: &VPA{Name: "web", Active: true}}), contract.ActiveVPA, "VerticalPodAutoscaler web sizes the pod's workload")
	})
}

func TestScopeRules(t *testing.T) {
	t.Run("returns the first veto of Scope", returnsTheFirstVetoOfScope)
}

// A pod meets all objections; each step removes the first one.
func returnsTheFirstVetoOfScope(t *testing.T) {
	now := metav1.Now()
	s := Snapshot{Frozen: "frozen", Paused: "paused", VPA: &VPA{Name: "web", Active: true}, OwnerKinds: []string{"ReplicaSet"}}
	p := podWith(running("app", nil), func(p *corev1.Pod) {
		p.Spec.NodeName = ""
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash", contract.Skip: "true"}
		p.OwnerReferences[0].Kind = "Workflow"
		p.DeletionTimestamp = &now
		p.Status.Phase = corev1.PodFailed
		p.Labels = map[string]string{contract.AppLabel: contract.AppName}
		p.Spec.OS = &corev1.PodOS{Name: corev1.Windows}
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "2")}
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
		claim(p.Spec.Containers)
	})
	for _, step := range []struct {
		want contract.Reason
		cure func()
	}{
		{contract.NotScheduled, func() { p.Spec.NodeName = "node" }},
		{contract.StaticPod, func() { delete(p.Annotations, corev1.MirrorPodAnnotationKey) }},
		{contract.NotOwned, func() { p.OwnerReferences[0].Kind = "ReplicaSet" }},
		{contract.Terminating, func() { p.DeletionTimestamp = nil }},
		{contract.Finished, func() { p.Status.Phase = corev1.PodPending }},
		{contract.OptedOut, func() { p.Annotations = nil }},
		{contract.Frozen, func() { s.Frozen = "" }},
		{contract.Paused, func() { s.Paused = "" }},
		{contract.NotRunning, func() { p.Status.Phase = corev1.PodRunning }},
		{contract.OwnPod, func() { p.Labels = nil }},
		{contract.WindowsPod, func() { p.Spec.OS = nil }},
		{contract.NoRequests, func() { p.Spec.Containers[0].Resources.Requests = list("cpu", "1") }},
		{contract.ResizeUnsupported, func() { p.Status.ContainerStatuses = nil }},
		{contract.PodLevelResources, func() { p.Spec.Resources = nil }},
		{contract.ResourceClaims, func() { p.Spec.Containers[0].Resources.Claims = nil }},
		{contract.ActiveVPA, func() { s.VPA = nil }},
		{"", func() {}},
	} {
		s.Pod = pod.From(p)
		check(t, Scope(s), step.want, "")
		step.cure()
	}
}
