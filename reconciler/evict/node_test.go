package evict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

func requesting(name, cpu string, change ...func(*corev1.Pod)) *corev1.Pod {
	return web(append([]func(*corev1.Pod){func(p *corev1.Pod) {
		p.Name, p.UID = name, types.UID(name)
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}}, change...)...)
}

func TestNewNode(t *testing.T) {
	claims := map[string]*Claim{"shop/disk": {Bound: true, Driver: "disk"}, "shop/nfs": {Bound: true}}
	csi := &storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "disk", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(8))}}, {Name: "unlimited"}}}}
	n := NewNode(node("a-1").Node, []*corev1.Pod{
		requesting("one", "500m", claimed("disk"), claimed("nfs")),
		requesting("two", "1", claimed("disk"), func(p *corev1.Pod) {
			p.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
			p.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}
		}),
		requesting("done", "9", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		requesting("shrinking", "200m", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("700m")}}}}
		}),
	}, csi, claims)
	if cpu := n.Requested[corev1.ResourceCPU]; cpu.Cmp(resource.MustParse("3300m")) != 0 {
		t.Errorf("they request %s, want 500m + 2100m + 700m", cpu.String())
	}
	if len(n.Pods) != 3 {
		t.Errorf("%d pods count, want those that have not finished", len(n.Pods))
	}
	if diff := cmp.Diff([]map[string]int{{"disk": 8}, {"disk": 1}}, []map[string]int{n.Limits, n.Attached}); diff != "" {
		t.Errorf("a claim that two pods use is attached once (-want +got):\n%s", diff)
	}
}

func TestRank(t *testing.T) {
	for _, name := range ranks {
		if r, err := ParseRank(name); err != nil || r.String() != name {
			t.Errorf("%s is %v, %v", name, r, err)
		}
	}
	if r, err := ParseRank("soon"); err == nil || r != Never {
		t.Errorf("an unknown rank is %v, %v, want that the pod stays", r, err)
	}
	for _, tc := range []struct {
		kind     string
		replicas int
		want     Rank
	}{{"Deployment", 3, Low}, {"Deployment", 1, Medium}, {"StatefulSet", 3, Medium}} {
		if got := DefaultRank(tc.kind, tc.replicas); got != tc.want {
			t.Errorf("%s with %d pods has %s, want %s", tc.kind, tc.replicas, got, tc.want)
		}
	}
}
