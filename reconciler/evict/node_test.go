package evict

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

func requesting(name, cpu string, change ...func(*corev1.Pod)) *corev1.Pod {
	return web(append([]func(*corev1.Pod){func(p *corev1.Pod) {
		p.Name, p.UID = name, types.UID(name)
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}}, change...)...)
}

func TestAdd(t *testing.T) {
	more := func(name corev1.ResourceName, amount string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[name] = resource.MustParse(amount)
		}
	}
	var s Scene
	n := s.Add(machine("a-1").Node, podsOf(
		requesting("one", "500m", claimed("disk"), claimed("nfs"), more("gpu", "2")),
		requesting("two", "1", claimed("disk"), more(corev1.ResourceEphemeralStorage, "1Gi"), func(p *corev1.Pod) {
			p.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
			p.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceEphemeralStorage: resource.MustParse("3Gi"),
			}}}}
		}),
		requesting("done", "9", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		requesting("shrinking", "200m", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("700m")}}}}
		}),
	))
	for name, want := range map[corev1.ResourceName]string{corev1.ResourceCPU: "3300m", corev1.ResourceEphemeralStorage: "3Gi", "gpu": "2"} {
		if q := n.Requested[name]; q.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("they request %s %s, want %s", q.String(), name, want)
		}
	}
	if len(n.Pods) != 3 || len(s.Nodes) != 1 {
		t.Errorf("%d pods count, want those that have not finished", len(n.Pods))
	}
	if n.Attached != 2 {
		t.Errorf("%d volumes are attached, want 2: two pods use the same one", n.Attached)
	}
	n.Limit(&storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "disk", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(8))}}, {Name: "unlimited"}}}})
	if diff := cmp.Diff(map[string]int{"disk": 8, "unlimited": math.MaxInt}, n.Limits); diff != "" {
		t.Error(diff)
	}
}

// Anyone who may create pods can name their node, and any requests. Sums of these must not look like a node that is empty.
func TestAddTooMuch(t *testing.T) {
	vast := func(name string, containers int) *corev1.Pod {
		return requesting(name, "1", func(p *corev1.Pod) {
			c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Ei")}}}
			for range containers {
				p.Spec.Containers = append(p.Spec.Containers, c)
			}
		})
	}
	for name, pods := range map[string][]*corev1.Pod{
		"one pod":       {vast("v", 9)},
		"all of 64 bit": {vast("v", 16)},
		"many pods":     {vast("1", 1), vast("2", 1), vast("3", 1), vast("4", 1), vast("5", 1), vast("6", 1), vast("7", 1), vast("8", 1), vast("9", 1)},
	} {
		var s Scene
		n := s.Add(machine("a-1").Node, podsOf(pods...))
		if q := n.Requested[corev1.ResourceMemory]; q.Cmp(resource.MustParse("1Ei")) != 0 {
			t.Errorf("%s: they request %s, want 1Ei, as much as counts at most", name, q.String())
		}
	}
}

// Authors may write a megabyte into a pod. That is too much to compare it with all pods, so that nothing moves there.
func TestTooMuch(t *testing.T) {
	repelling := func(p *corev1.Pod) {
		var terms []corev1.PodAffinityTerm
		for i := range 1000 {
			terms = append(terms, corev1.PodAffinityTerm{TopologyKey: zone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{fmt.Sprint("key-", i): "value"}}})
		}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
	claiming := func(p *corev1.Pod) {
		for i := range 2000 {
			claimed(fmt.Sprintf("a-claim-with-a-name-%d", i))(p)
		}
	}
	const vague = "a pod there has more volumes, ports and terms of anti-affinity than are judged"
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		fits   []string
	}{
		"terms, which may be about the whole zone": {repelling, []string{"b-1"}},
		"claims": {claiming, []string{"a-2", "b-1"}},
	} {
		text := podsOf(requesting("other", "1", tc.change))[0].Nearby()
		if len(text) > 1<<10 {
			t.Errorf("%s: %d bytes are kept", name, len(text))
		}
		var s Scene
		s.Add(machine("a-1").Node, nil) // Its own.
		s.Add(machine("a-2").Node, nil)
		s.Add(machine("a-3").Node, podsOf(requesting("other", "1", tc.change)))
		s.Add(machine("b-1").Node, nil)
		if fits, why := s.Fits(web(), nil); !slices.Equal(fits, tc.fits) || why != "" {
			t.Errorf("%s: it fits on %v (%s), want %v", name, fits, why, tc.fits)
		}
		s.Nodes = s.Nodes[2:3]
		if fits, why := s.Fits(web(), nil); fits != nil || why != "1 of 1 other nodes: "+vague {
			t.Errorf("%s: it fits on %v (%s)", name, fits, why)
		}
		if got := Unjudged(web(tc.change)); got != "it has more volumes, ports, tolerations and terms of affinity than are judged" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func podsOf(objects ...*corev1.Pod) (all []*pod.Pod) {
	for _, object := range objects {
		all = append(all, pod.From(object))
	}
	return all
}

// TestNearby checks that what the informers keep of a pod says the same as the pod.
func TestNearby(t *testing.T) {
	for name, p := range map[string]*corev1.Pod{
		"plain": web(),
		"all of it": requesting("all", "1", claimed("disk"), port("10.0.0.1", corev1.ProtocolUDP),
			apart(corev1.PodAffinityTerm{LabelSelector: of("web"), TopologyKey: zone, Namespaces: []string{"bank"}})),
	} {
		t.Run(name, func(t *testing.T) {
			var s Scene
			kept := s.Add(machine("a-1").Node, podsOf(p)).Pods[0]
			if diff := cmp.Diff(neighborOf(p).Nearby, kept.Nearby); diff != "" {
				t.Error(diff)
			}
			if app := kept.Labels.Get("app"); app != "web" {
				t.Errorf("its label is %q", app)
			}
		})
	}
}

func TestRank(t *testing.T) {
	for name, want := range map[string]Rank{"low": Low, "medium": Medium, "high": High, "never": Never} {
		if r, err := parseRank(name); err != nil || r != want || r.String() != name {
			t.Errorf("%s is %v, %v", name, r, err)
		}
	}
	if r, err := parseRank("soon"); err == nil || r != Never {
		t.Errorf("an unknown rank is %v, %v, want that the pod stays", r, err)
	}
	for _, tc := range []struct {
		kind     string
		replicas int
		want     Rank
	}{{"Deployment", 3, Low}, {"Deployment", 1, Medium}, {"StatefulSet", 3, Medium}} {
		if got := defaultRank(tc.kind, tc.replicas); got != tc.want {
			t.Errorf("%s with %d pods has %s, want %s", tc.kind, tc.replicas, got, tc.want)
		}
	}
}
