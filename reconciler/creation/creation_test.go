package creation

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

type changes = []func(*corev1.Pod)

// sizer returns a Sizer for a cluster in which node a is an n2d, the baseline, and node b an n4, 1.25 times as fast.
func sizer(t testing.TB) *Sizer {
	t.Helper()
	c := clustertest.Shop(t)
	c.Planner.OwnerKinds = plan.DefaultOwnerKinds
	keys, _ := (*seal.Ring)(nil).Renewed(podtest.Start.Add(-time.Hour))
	return &Sizer{Config: Config{Cluster: c, Planner: &plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}, Keys: func() *seal.Ring { return keys }, Clock: c.Clock}}
}

// asked returns a pod as a controller asks for it.
func asked(all ...func(*corev1.Pod)) *corev1.Pod {
	p := podtest.Pod(podtest.Burstable)
	p.Name, p.UID, p.Namespace, p.GenerateName, p.Spec.NodeName, p.Status, p.ManagedFields = "", "", "", "web-1-", "", corev1.PodStatus{}, nil
	yes := true
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "owner", Controller: &yes}}
	p.Annotations = nil
	for _, change := range all {
		change(p)
	}
	return p
}

func onNode(name string) func(*corev1.Pod) {
	return required(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}}})
}

func required(terms ...corev1.NodeSelectorTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
}

func ofType(types ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: nodetype.LabelGCPMachineFamily, Operator: corev1.NodeSelectorOpIn, Values: types}}}
}

func selects(nodeType string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{nodetype.LabelGCPMachineFamily: nodeType} }
}

func cpuOf(p *corev1.Pod) string {
	return sizing.CPU.Show(sizing.FromResources(p.Spec.Containers[0].Resources).CPU)
}

func TestSize(t *testing.T) {
	for _, tc := range []struct {
		name    string
		changes changes
		// cpu is the size of cpu; empty if the pod is created as it is. why is part of why it is.
		cpu, why string
	}{
		{"a DaemonSet's pod", changes{onNode("b")}, "800m/1600m", ""},
		{"a DaemonSet's pod on the baseline", changes{onNode("a")}, "", "AlreadyAligned"},
		{"a DaemonSet's pod on a node that is not known", changes{onNode("c")}, "", "where it will run is not known"},
		{"a selected type", changes{selects("n4")}, "800m/1600m", ""},
		{"a required type", changes{required(ofType("n4"))}, "800m/1600m", ""},
		{"either of two types", changes{required(ofType("n4", "n2d"))}, "", "where it will run is not known"},
		{"either of two terms", changes{required(ofType("n4"), ofType("n2d"))}, "", "where it will run is not known"},
		{"a type without a ratio", changes{selects("c3")}, "", "where it will run is not known"},
		{"any node", nil, "", "where it will run is not known"},
		{"opted out", changes{selects("n4"), podtest.Annotated("skip", "true")}, "", "OptedOut"},
		{"no controller", changes{selects("n4"), func(p *corev1.Pod) { p.OwnerReferences = nil }}, "", "NotOwned"},
		{"Windows", changes{selects("n4"), func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }}, "", "WindowsPod"},
		{"what would need a restart later", changes{selects("n4"), func(p *corev1.Pod) {
			p.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.RestartContainer}}
		}}, "800m/1600m", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, p := sizer(t), asked(tc.changes...)
			before := p.DeepCopy()
			got := s.Size(p, "shop", "")
			if !apiequality.Semantic.DeepEqual(p, before) {
				t.Fatal("the pod that was asked for was changed")
			}
			if tc.cpu == "" {
				if got.Pod != nil || !strings.Contains(got.Why, tc.why) {
					t.Fatalf("got %v, because %q; want it to stay because %q", got.Pod, got.Why, tc.why)
				}
				return
			}
			if got.Pod == nil || cpuOf(got.Pod) != tc.cpu || got.Why != "" {
				t.Fatalf("got %v, because %q; want %s", got.Pod, got.Why, tc.cpu)
			}
			wants := map[string]string{
				"workload-resizer.io/original-cpu.app": "1", "workload-resizer.io/original-cpu-limit.app": "2",
				"workload-resizer.io/original-memory.app": "1Gi", "workload-resizer.io/original-memory-limit.app": "2Gi",
				contract.AppliedInstanceType: "n4", contract.AppliedAt: "2026-11-21T00:00:00Z",
			}
			has := maps.Clone(got.Pod.Annotations)
			delete(has, contract.CreatedSizes)
			if !maps.Equal(has, wants) {
				t.Errorf("annotations %v, want %v", has, wants)
			}
			// The pod needs nothing more once it runs.
			running := made(got.Pod, "b")
			read := pod.FromProven(running, s.Keys())
			rules, _ := s.Cluster.Rules()
			planned := s.Planner.Plan(s.Cluster.Snapshot(read, rules))
			if planned.Decision != plan.Align || planned.Pending() || planned.Containers[0].Original != podtest.Burstable.Container() {
				t.Errorf("once it runs, the plan is %v with %v and original %v", planned.Decision, planned.Reasons, planned.Containers[0].Original)
			}
		})
	}
}

// made returns a pod as it runs.
func made(p *corev1.Pod, node string) *corev1.Pod {
	p = p.DeepCopy()
	p.Namespace, p.Name, p.UID, p.Spec.NodeName, p.CreationTimestamp = "shop", "web-1-z", "z", node, metav1.NewTime(podtest.Start)
	p.ManagedFields = []metav1.ManagedFieldsEntry{podtest.AsMade}
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable}
	return p
}

func TestSizeAgain(t *testing.T) {
	s := sizer(t)
	first := s.Size(asked(selects("n4")), "shop", "").Pod
	scale := func(p *corev1.Pod, cpu, limit string) *corev1.Pod {
		p = p.DeepCopy()
		r := &p.Spec.Containers[0].Resources
		r.Requests[corev1.ResourceCPU], r.Limits[corev1.ResourceCPU] = resource.MustParse(cpu), resource.MustParse(limit)
		return p
	}
	annotated := func(p *corev1.Pod, key, text string) *corev1.Pod {
		p = p.DeepCopy()
		p.Annotations[key] = text
		return p
	}
	sealed := first.Annotations[contract.CreatedSizes]
	withAnotherOwner := func(p *corev1.Pod) *corev1.Pod {
		p = p.DeepCopy()
		p.OwnerReferences[0].UID = "other"
		return p
	}
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		// cpu is the size, and original that of the author.
		cpu, original string
	}{
		{"unchanged", first, "800m/1600m", "1"},
		{"a webhook changed another annotation", annotated(first, "sidecar.istio.io/status", "injected"), "800m/1600m", "1"},
		{"a webhook halved the size", scale(first, "400m", "1"), "320m/800m", "400m"},
		{"a webhook changed the limit alone", scale(first, "800m", "4"), "800m/3200m", "1"},
		{"copied to another controller", withAnotherOwner(first), "640m/1280m", "800m"},
		{"forged", annotated(first, contract.CreatedSizes, strings.Replace(sealed, "1/2>", "9/9>", 1)), "640m/1280m", "800m"},
		{"with an original that takes hours to read", annotated(first, "workload-resizer.io/original-cpu.app", "1e-2147483647"), "800m/1600m", "1"},
		{"with other records of a running pod", annotated(annotated(first, contract.Reverts, "[]"), contract.AppliedSizes, "app 0 cpu 9"), "800m/1600m", "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := s.Size(tc.pod, "shop", "")
			after := tc.pod
			if got.Pod != nil {
				after = got.Pod
			}
			if cpuOf(after) != tc.cpu || !equal(after.Annotations["workload-resizer.io/original-cpu.app"], tc.original) {
				t.Errorf("got %s with annotations %v, because %q; want %s of %s", cpuOf(after), after.Annotations, got.Why, tc.cpu, tc.original)
			}
			if _, ok := after.Annotations[contract.Reverts]; ok || after.Annotations[contract.AppliedSizes] != "" {
				t.Error("a record that describes another pod stays")
			}
			if again := s.Size(after, "shop", ""); again.Pod != nil {
				t.Errorf("a further call changes it: %v", again.Pod)
			}
		})
	}
	t.Run("a webhook raised the cpu of a pod that starts", func(t *testing.T) {
		raised := annotated(scale(first, "2400m", "4800m"), "vpaCpuStartupBoost/app", `{"requests":{"cpu":"800m","memory":"1Gi"},"limits":{"cpu":"1600m","memory":"2Gi"}}`)
		if got := s.Size(raised, "shop", ""); got.Pod != nil {
			t.Errorf("it is changed: %v", got.Pod)
		}
		request, lowered := pod.FromProven(made(raised, "b"), s.Keys()).Containers[0].Raised(contract.CPURequest)
		if request != 1000 || lowered != 800 {
			t.Errorf("it is lowered to %d, of %d", lowered, request)
		}
	})
	t.Run("it is removed again if the pod stays as it is", func(t *testing.T) {
		unsized := first.DeepCopy()
		unsized.Spec.NodeSelector = nil
		got := s.Size(unsized, "shop", "")
		if got.Pod == nil || cpuOf(got.Pod) != "1/2" || got.Pod.Annotations[contract.CreatedSizes] != "" || got.Pod.Annotations[contract.AppliedInstanceType] != "" {
			t.Errorf("got %v", got.Pod)
		}
	})
	t.Run("right originals of a policy stay", func(t *testing.T) {
		p := asked(podtest.Annotated("original-cpu.app", "1000m", "original-memory.app", "7Gi"))
		got := s.Size(p, "shop", "")
		if got.Pod == nil || !maps.Equal(got.Pod.Annotations, map[string]string{"workload-resizer.io/original-cpu.app": "1000m"}) {
			t.Errorf("got %v", got.Pod)
		}
	})
}

func TestHolds(t *testing.T) {
	for _, tc := range []struct {
		name, why string
		holds     interface {
			Ready() (*hold.Table, error)
		}
	}{
		{"a pause", "Paused", clustertest.Holding(hold.Hold{Scope: hold.Scope{Namespace: "shop"}, Kind: hold.Pause})},
		{"a freeze", "Frozen", clustertest.Frozen(hold.Freeze{})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := sizer(t)
			s.Cluster.Holds = tc.holds.(clustertest.Held)
			if got := s.Size(asked(selects("n4")), "shop", ""); got.Pod != nil || !strings.Contains(got.Why, tc.why) {
				t.Errorf("got %v, because %q", got.Pod, got.Why)
			}
		})
	}
}

func BenchmarkSize(b *testing.B) {
	s, p := sizer(b), asked(selects("n4"))
	b.ReportAllocs()
	for b.Loop() {
		if s.Size(p, "shop", "").Pod == nil {
			b.Fatal("it is not sized")
		}
	}
}

// The server forgets what it remembers of nodes when they change.
func TestChangedNodes(t *testing.T) {
	s := following(t, 0.8, needs(500), policy.Guard{MaxUnproven: policy.AllPods})
	if got := podtest.SizesOf(s.Size(asked(), "shop", "").Pod); got != "app 625m/1250m 1Gi/2Gi" {
		t.Fatalf("next to a slower node, it gets %s", got)
	}
	tainted(s, "b", corev1.Taint{Key: "team", Value: "other", Effect: corev1.TaintEffectNoSchedule})
	if got := podtest.SizesOf(s.Size(asked(), "shop", "").Pod); got != "app 500m/1 1Gi/2Gi" {
		t.Errorf("without one, it gets %s", got)
	}
}

// One of 5,000 nodes has room for the pod.
func BenchmarkSizeAnywhere(b *testing.B) {
	s := following(b, 0.8, needs(1200), policy.Guard{MaxUnproven: policy.AllPods})
	nodes := make([]*corev1.Node, 5000)
	for i := range nodes {
		nodes[i] = clustertest.Node(fmt.Sprint("node-", i), []string{"n2d", "n4"}[i%2], map[bool]string{false: "1", true: "8"}[i == 4999])
		nodes[i].Spec.Taints = []corev1.Taint{{Key: "team", Value: "shop", Effect: corev1.TaintEffectNoSchedule}}
	}
	if err := s.Cluster.Know(nil, nodes); err != nil {
		b.Fatal(err)
	}
	p := asked(func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "other", Value: "none"}, {Key: "team", Operator: corev1.TolerationOpExists}}
		p.Spec.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
	})
	for _, n := range s.Cluster.Nodes() {
		n.Labels["kubernetes.io/os"] = "linux"
	}
	size := func(b *testing.B) {
		if got := s.Size(p, "shop", ""); got.Pod == nil {
			b.Fatal(got.Why)
		}
	}
	b.Run("of a known workload", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			size(b)
		}
	})
	b.Run("of a new workload", func(b *testing.B) {
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			p.Spec.Tolerations[0].Value = fmt.Sprint(n) // It says something else about its nodes.
			size(b)
		}
	})
}

func TestRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, why string
		changes   changes
		sizer     func(*Sizer)
	}{
		{"a container that is called like a record", "no record can describe", changes{selects("n4"), func(p *corev1.Pod) {
			p.Spec.Containers[0].Name = "app 0 cpu 64/64>800m/1600m; x"
		}}, nil},
		{"two containers of the same name", "the same name", changes{selects("n4"), podtest.WithSecond(podtest.Burstable), func(p *corev1.Pod) {
			p.Spec.Containers[1].Name = "app"
		}}, nil},
		{"annotations without room for more", "leave no room", changes{selects("n4"), func(p *corev1.Pod) {
			p.Annotations = map[string]string{"notes": strings.Repeat("x", validation.TotalAnnotationSizeLimitB-100)}
		}}, nil},
		{"a request and a limit that are the same only in millicores", "how its requests compare", changes{selects("n4"), func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = podtest.Amounts{"1999500u", "2", "1Gi", "2Gi"}.Requirements()
		}}, nil},
		{"before the cluster is read", "has not been read yet", changes{selects("n4")}, func(s *Sizer) {
			read := s.Cluster
			s.Cluster = clustertest.Unread(t)
			s.Cluster.Ratios = read.Ratios
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := sizer(t)
			if tc.sizer != nil {
				tc.sizer(s)
			}
			if got := s.Size(asked(tc.changes...), "shop", ""); got.Pod != nil || !strings.Contains(got.Why, tc.why) {
				t.Errorf("got %v, because %q; want it to stay because %q", got.Pod, got.Why, tc.why)
			}
		})
	}
}
