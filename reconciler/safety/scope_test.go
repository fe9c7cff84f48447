package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// pod is one that nothing speaks against, with changes.
func pod(changes ...func(*corev1.Pod)) *corev1.Pod {
	controller := true
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "rs", Controller: &controller}}},
		Spec: corev1.PodSpec{NodeName: "n4-0", Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func TestScope(t *testing.T) {
	now := metav1.Now()
	bare := func(p *corev1.Pod) { p.OwnerReferences = nil }
	pending := func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want contract.Reason
	}{
		{"a running pod of a ReplicaSet", pod(), ""},
		{"memory alone is enough", pod(func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		}), ""},
		{"skip with another value than true means nothing", pod(func(p *corev1.Pod) { p.Annotations = map[string]string{contract.Skip: "yes"} }), ""},
		{"not scheduled, whatever else", pod(bare, pending, func(p *corev1.Pod) { p.Spec.NodeName = "" }), contract.NotScheduled},
		{"a mirror pod, although a Node owns it", pod(func(p *corev1.Pod) {
			p.OwnerReferences[0].Kind = "Node"
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
		}), contract.StaticPod},
		{"bare", pod(bare), contract.NotOwned},
		{"an owner that is no controller", pod(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), contract.NotOwned},
		{"a controller of another kind", pod(func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Workflow" }), contract.NotOwned},
		{"opted out", pod(func(p *corev1.Pod) { p.Annotations = map[string]string{contract.Skip: "true"} }), contract.OptedOut},
		{"terminating", pod(func(p *corev1.Pod) { p.DeletionTimestamp = &now }), contract.Terminating},
		{"succeeded", pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), contract.Finished},
		{"failed", pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), contract.Finished},
		{"not started", pod(pending), contract.NotRunning},
		{"one of our own", pod(func(p *corev1.Pod) { p.Labels = map[string]string{contract.AppLabel: contract.AppName} }), contract.OwnPod},
		{"no requests", pod(func(p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{} }), contract.NoRequests},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Scope(Snapshot{Pod: tc.pod, OwnerKinds: []string{"ReplicaSet", "Job"}})
			switch {
			case got == nil && tc.want != "":
				t.Errorf("no veto, want %s", tc.want)
			case got != nil && (got.Reason != tc.want || got.Message == ""):
				t.Errorf("veto %+v, want %q with a message", *got, tc.want)
			}
		})
	}
}
