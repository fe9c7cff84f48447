package creation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// shows is the usage of each container of a pod.
type shows struct {
	need.Unknown
	*need.Container
}

func (s shows) Of(string) (*need.Container, need.Memory) { return s.Container, need.Memory{} }

// needs returns a demand for cpu, in millicores. Memory needs what its author wrote.
func needs(cpu int64, changes ...func(*need.Container)) shows {
	rules := &need.Rules{
		Updates: need.Updates{Band: 0.1, After: 12 * time.Hour, DecreaseCPU: 24 * time.Hour, DecreaseLimit: 72 * time.Hour, Separate: true, AnyKill: true, InUse: true},
		Limits:  need.Limits{Memory: need.Multiple, MemoryMultiple: 2},
	}
	s := shows{Container: &need.Container{CPU: need.Recommendation{Target: cpu, Lower: cpu * 8 / 10, Upper: cpu * 12 / 10, Rules: rules}, Memory: need.Recommendation{Rules: rules}}}
	for _, change := range changes {
		change(s.Container)
	}
	return s
}

func keeping(c *need.Container) { c.CPU.Keeps = "3 hours of CPU are known" }

// following returns a Sizer for a cluster in which the sizes of new pods follow usage, and nodes of type n4 are this fast.
func following(t testing.TB, n4 float64, usage need.Demand, guard policy.Guard, changes ...func(*policy.Settings)) *Sizer {
	t.Helper()
	s, layer := sizer(t), clustertest.Published()
	layer.Ratios["n4"] = ratios.Ratio{CPUPerf: n4, MemoryPerf: 1}
	settings := layer.Settings.Complete()
	settings.Guard, settings.Demand.From, settings.Demand.Mode = guard, policy.FromUsage, policy.Initial
	for _, change := range changes {
		change(&settings)
	}
	layer.Settings = keys.Some(settings)
	s.Cluster.Ratios = clustertest.Store(t, layer)
	s.Cluster.Hear(nil, func(_ *pod.Pod, _ []workload.Workload, _ *ratios.Table, creating bool) need.Demand {
		if !creating {
			return nil
		}
		return usage
	})
	return s
}

func tainted(s *Sizer, name string, taint corev1.Taint) {
	n := s.Cluster.NodeNamed(name).DeepCopy()
	n.Spec.Taints = []corev1.Taint{taint}
	if err := s.Cluster.Know(nil, []*corev1.Node{n}); err != nil {
		panic(err)
	}
}

// plainNode adds a node of an unknown type.
func plainNode(s *Sizer) {
	n := clustertest.Node("plain", "", "8")
	n.Labels = nil
	if err := s.Cluster.Know(nil, []*corev1.Node{n}); err != nil {
		panic(err)
	}
}

func TestUsage(t *testing.T) {
	const slow, fast = 0.8, 1.25
	dedicated := corev1.Taint{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}
	tolerant := func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	full := func(cpu string) func(*Sizer) {
		return func(s *Sizer) {
			var pods []*pod.Pod
			for _, n := range []string{"a", "b"} {
				pods = append(pods, pod.From(podtest.Pod(podtest.Amounts{cpu, "", "1Gi", ""}, clustertest.Named("bank", "large-"+n, n))))
			}
			if err := s.Cluster.Know(pods, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name    string
		n4      float64
		usage   shows
		sizer   func(*Sizer)
		changes changes
		// cpu is the size of cpu, and why is part of why the node type was chosen.
		cpu, why string
	}{
		{"a pinned pod gets what it needs on its type", fast, needs(500), nil, changes{selects("n4")}, "400m/800m", "n4"},
		{"a DaemonSet's pod gets what it needs on its node", slow, needs(500), nil, changes{onNode("b")}, "625m/1250m", "node b"},
		{"any other gets what it needs on the slowest type", slow, needs(500), nil, nil, "625m/1250m", "n4 is the slowest"},
		{"which may be the baseline", fast, needs(500), nil, nil, "500m/1", "n2d is the slowest"},
		{"of those that it selects", fast, needs(500), nil, changes{required(ofType("n4", "c3"))}, "400m/800m", "n4 is the slowest"},
		{"of those whose taints it tolerates", slow, needs(500), func(s *Sizer) { tainted(s, "b", dedicated) }, nil, "500m/1", "n2d is the slowest"},
		{"of those whose taints it tolerates, which may be all", slow, needs(500), func(s *Sizer) { tainted(s, "b", dedicated) }, changes{tolerant}, "625m/1250m", "n4 is the slowest"},
		{"of those that take new pods", slow, needs(500), func(s *Sizer) {
			n := s.Cluster.NodeNamed("b").DeepCopy()
			n.Spec.Unschedulable = true
			if err := s.Cluster.Know(nil, []*corev1.Node{n}); err != nil {
				panic(err)
			}
		}, nil, "500m/1", "n2d is the slowest"},
		{"more than its author wrote, if a node has room", slow, needs(1200), nil, nil, "1500m/3", "n4 is the slowest"},
		{"but no more than on the baseline, if none has", slow, needs(1200), full("6700m"), nil, "1200m/2400m", "no node has room now for what it needs on n4"},
		{"less than its author wrote, even if none has room", slow, needs(500), full("7900m"), nil, "625m/1250m", "n4 is the slowest"},
		{"no less than on the baseline if the type of a node is not known", fast, needs(500), func(s *Sizer) {
			tainted(s, "a", dedicated)
			plainNode(s)
		}, nil, "500m/1", "n2d is the slowest"},
		{"no less than its author wrote, while too little is known", fast, needs(500, keeping), nil, changes{selects("n4")}, "800m/1600m", "n4"},
		{"no more than any node has", slow, needs(5000), func(s *Sizer) {
			small := clustertest.Node("small", "n2d", "4")
			small.Labels["kubernetes.io/hostname"] = "small"
			if err := s.Cluster.Know(nil, []*corev1.Node{small}); err != nil {
				panic(err)
			}
		}, changes{func(p *corev1.Pod) {
			delete(p.Spec.Containers[0].Resources.Limits, corev1.ResourceCPU)
		}, func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
			p.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "small"}
		}}, "4", "n2d is the slowest"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := following(t, tc.n4, tc.usage, policy.Guard{MaxUnproven: policy.AllPods})
			if tc.sizer != nil {
				tc.sizer(s)
			}
			got := s.Size(asked(tc.changes...), "shop", "")
			if got.Pod == nil || !strings.Contains(got.Placement.Why, tc.why) || strings.TrimSuffix(cpuOf(got.Pod), "/") != tc.cpu {
				t.Fatalf("got %v for %+v, because %q; want %s for %s", got.Pod, got.Placement, got.Why, tc.cpu, tc.why)
			}
		})
	}
}

func TestUsageOnUnknownNodes(t *testing.T) {
	terms := slices.Repeat([]corev1.NodeSelectorTerm{ofType("n4", "n2d")}, mostTerms+1)
	for name, change := range map[string]func(*corev1.Pod){
		"no node":                onNode("c"),
		"no node of the name":    func(p *corev1.Pod) { p.Spec.NodeName = "c" },
		"no known type":          func(p *corev1.Pod) { p.Spec.NodeName = "plain" },
		"no node type that fits": required(ofType("c3")),
		"many terms":             required(terms...),
		"many values":            required(ofType(append(slices.Repeat([]string{"c3"}, mostRules), "n4")...)),
		"many tolerations":       func(p *corev1.Pod) { p.Spec.Tolerations = make([]corev1.Toleration, mostRules+1) },
	} {
		s := following(t, 1, needs(500), policy.Guard{MaxUnproven: policy.AllPods})
		plainNode(s)
		if got := s.Size(asked(change), "shop", ""); got.Pod != nil || !strings.Contains(got.Why, "where it will run is not known") {
			t.Errorf("%s: got %v, because %q", name, got.Pod, got.Why)
		}
	}
}

// While a size has not proven itself, about as many of the new pods get it as may try it: even of those that are planned for a
// node type on which none of the others runs.
func TestLot(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){"of a type": selects("n2d"), "anywhere": func(*corev1.Pod) {}} {
		t.Run(name, func(t *testing.T) { drawsLots(t, change, policy.Startup{}) })
	}
	t.Run("with a boost that hides it", func(t *testing.T) {
		drawsLots(t, func(*corev1.Pod) {}, policy.Startup{CPU: sizing.Boost{Factor: sizing.Factor{Num: 3, Den: 1}}, AtMost: time.Minute})
	})
}

func drawsLots(t *testing.T, change func(*corev1.Pod), startup policy.Startup) {
	s := following(t, 0.8, needs(500), policy.Guard{Enabled: true, MaxUnproven: intstr.FromString("20%"), Window: policy.LongestWindow, MaxChange: 1}, func(to *policy.Settings) {
		to.Startup = startup
	})
	var running []*pod.Pod
	for i := range 19 {
		p := made(asked(), "a")
		p.Name, p.UID = fmt.Sprintf("web-1-%d", i), types.UID(fmt.Sprint(i))
		running = append(running, pod.From(p))
	}
	if err := s.Cluster.Know(running, nil); err != nil {
		t.Fatal(err)
	}
	smaller := 0
	for i := range 1000 {
		got := s.Size(asked(change), "shop", types.UID(fmt.Sprint("request-", i)))
		switch {
		case got.Pod != nil && strings.HasSuffix(got.Pod.Annotations[contract.CreatedSizes], "|app cpu 500m"):
			smaller++
		case got.Pod != nil || !strings.Contains(got.Why, "WaitingForProof"):
			t.Fatalf("got %v, because %q", got.Pod, got.Why)
		}
	}
	if smaller < 150 || smaller > 250 {
		t.Errorf("%d of 1000 pods get the smaller size, want a fifth", smaller)
	}
}

// running plans a pod as it runs on a node.
func running(s *Sizer, p *corev1.Pod, node string) *plan.Plan {
	rules, _ := s.Cluster.Rules()
	return s.Planner.Plan(s.Cluster.Snapshot(pod.FromProven(made(p, node), s.Keys()), rules))
}

// lowMemory makes memory need half of what its author wrote.
func lowMemory(c *need.Container) {
	c.Memory.Target, c.Memory.Lower, c.Memory.Upper = 512<<20, 400<<20, 600<<20
}

// A pod keeps the size that usage gave it at its creation, whatever its node needs, and one without it follows the ratio.
func TestInitial(t *testing.T) {
	narrow := func(s *Sizer) {
		neighbor := pod.From(podtest.Pod(podtest.Amounts{"3600m", "", "1Gi", ""}, clustertest.Named("shop", "large", "b")))
		if err := s.Cluster.Know([]*pod.Pod{neighbor}, nil); err != nil {
			t.Fatal(err)
		}
	}
	limit := func(c *need.Container) {
		lowMemory(c)
		c.Memory.Keeps, c.Memory.Rules.Limits.MemoryMultiple = "3 hours of memory are known", 4
	}
	for _, tc := range []struct {
		name   string
		usage  shows
		sizer  func(*Sizer)
		change func(*corev1.Pod)
		node   string
		// created is the size at creation, and want the one on the node.
		created, want string
	}{
		{"on another node type", needs(500), nil, nil, "a", "app 625m/1250m 1Gi/2Gi", "app 625m/1250m 1Gi/2Gi"},
		{"on its node", needs(500), nil, onNode("b"), "b", "app 625m/1250m 1Gi/2Gi", "app 625m/1250m 1Gi/2Gi"},
		{"a part of it, for which its node had room", needs(1200), narrow, onNode("b"), "b", "app 1400m/3 1Gi/2Gi", "app 1400m/3 1Gi/2Gi"},
		{"a limit alone", needs(500, limit), nil, nil, "a", "app 625m/1250m 1Gi/4Gi", "app 625m/1250m 1Gi/4Gi"},
		{"what its author wrote while too little is known", needs(500, keeping, lowMemory), nil, nil, "a", "app 1250m/2500m 512Mi/1Gi", "app 1/2 512Mi/1Gi"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := following(t, 0.8, tc.usage, policy.Guard{MaxUnproven: policy.AllPods})
			if tc.sizer != nil {
				tc.sizer(s)
			}
			created := asked()
			if tc.change != nil {
				tc.change(created)
			}
			if created = s.Size(created, "shop", "").Pod; podtest.SizesOf(created) != tc.created {
				t.Fatalf("created with %s", podtest.SizesOf(created))
			}
			p := running(s, created, tc.node)
			c := p.Containers[0].Desired
			if got := "app " + sizing.CPU.Show(c.CPU) + " " + sizing.Memory.Show(c.Memory); got != tc.want {
				t.Errorf("planned %s, because %v; want %s", got, p.Reasons, tc.want)
			}
		})
	}
	s := following(t, 0.8, needs(500), policy.Guard{MaxUnproven: policy.AllPods})
	if p := running(s, asked(), "b"); p.Containers[0].Desired.CPU.Request != 1250 {
		t.Errorf("created without the server, it gets %v", p.Containers[0].Desired)
	}
	t.Run("overrides another actor", func(t *testing.T) {
		s.Planner.External = plan.OverrideExternal
		p := s.Size(asked(), "shop", "").Pod
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1100m")
		p = made(p, "a")
		p.ManagedFields = append(p.ManagedFields, podtest.ResizeBy("operator", 20, contract.CPURequest, contract.CPULimit))
		rules, _ := s.Cluster.Rules()
		planned := s.Planner.Plan(s.Cluster.Snapshot(pod.FromProven(p, s.Keys()), rules))
		if got := planned.Containers[0].Desired.CPU; planned.Decision != plan.Resize || sizing.CPU.Show(got) != "625m/1250m" {
			t.Errorf("planned %v with %v, because %v", planned.Decision, got, planned.Reasons)
		}
	})
}

// A revert of one resource leaves the other one what usage gave it.
func TestInitialReverted(t *testing.T) {
	s := following(t, 0.8, needs(500, lowMemory), policy.Guard{Enabled: true, MaxUnproven: policy.AllPods, Window: time.Hour, Cooldown: time.Hour, MaxChange: 1})
	p := made(s.Size(asked(), "shop", "").Pod, "a")
	has := func() {
		r := &p.Spec.Containers[0].Resources
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", RestartCount: 1, Resources: r, AllocatedResources: r.Requests,
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(podtest.At(40))}}}}
	}
	rules, _ := s.Cluster.Rules()
	planned := func(at int) *plan.Plan {
		has()
		clustertest.Clock(s.Cluster).SetTime(podtest.At(at))
		return s.Planner.Plan(s.Cluster.Snapshot(pod.FromProven(p, s.Keys()), rules))
	}
	reverted := planned(60)
	if reverted.Kind != plan.Revert || reverted.Decision != plan.Resize {
		t.Fatalf("%v %v, because %v", reverted.Kind, reverted.Decision, reverted.Reasons)
	}
	for _, a := range reverted.Actions() {
		for key, text := range a.At(podtest.At(60)).Annotations {
			p.Annotations[key] = *text
			p.ManagedFields = append(p.ManagedFields, podtest.Managed(contract.FieldManager, "", 60, key))
		}
	}
	p.Spec.Containers[0].Resources = podtest.Amounts{"625m", "1250m", "1Gi", "2Gi"}.Requirements()
	p.ManagedFields = append(p.ManagedFields, podtest.ResizeBy(contract.FieldManager, 61, contract.MemoryRequest, contract.MemoryLimit))
	for _, at := range []int{70, 10 * 3600, 1000 * 3600} {
		if got := planned(at); got.Decision == plan.Resize {
			t.Errorf("at %d, it is resized to %v", at, got.Containers[0].Desired)
		}
	}
}

// A pod that was boosted when it was created keeps what usage gave it once it has started.
func TestInitialBoosted(t *testing.T) {
	s := following(t, 0.8, needs(500), policy.Guard{MaxUnproven: policy.AllPods}, func(to *policy.Settings) {
		to.Startup = policy.Startup{CPU: sizing.Boost{Factor: sizing.Factor{Num: 3, Den: 1}}, AtMost: 5 * time.Minute}
	})
	p := made(s.Size(asked(), "shop", "").Pod, "a")
	if got := podtest.SizesOf(p); got != "app 1875m/3750m 1Gi/2Gi" {
		t.Fatalf("created with %s", got)
	}
	rules, _ := s.Cluster.Rules()
	planned := func(at int) *plan.Plan {
		clustertest.Clock(s.Cluster).SetTime(podtest.At(at))
		return s.Planner.Plan(s.Cluster.Snapshot(pod.FromProven(p, s.Keys()), rules))
	}
	if starting := planned(10); starting.Decision == plan.Resize {
		t.Errorf("while it starts, it is planned %v, because %v", starting.Containers[0].Desired, starting.Reasons)
	}
	ends := planned(301)
	without := podtest.Amounts{"625m", "1250m", "1Gi", "2Gi"}
	if got := ends.Containers[0].Desired; ends.Decision != plan.Resize || got != without.Container() {
		t.Fatalf("then %v, because %v; want %v", got, ends.Reasons, without)
	}
	for _, a := range ends.Actions() {
		for key, text := range a.At(podtest.At(301)).Annotations {
			if text == nil {
				t.Errorf("%s is removed", key)
				continue
			}
			p.Annotations[key] = *text
			p.ManagedFields = append(p.ManagedFields, podtest.Managed(contract.FieldManager, "", 301, key))
		}
	}
	p.Spec.Containers[0].Resources = without.Requirements()
	p.ManagedFields = append(p.ManagedFields, podtest.ResizeBy(contract.FieldManager, 302, contract.CPURequest, contract.CPULimit))
	for _, at := range []int{310, 10 * 3600, 1000 * 3600} {
		if got := planned(at); got.Decision == plan.Resize {
			t.Errorf("at %d, it is resized to %v, because %v", at, got.Containers[0].Desired, got.Reasons)
		}
	}
}

// Under apply, a pod that lands on another type than it was created for is resized for that, but not back to what its author
// wrote because nobody has measured it yet.
func TestApplyOnAnotherType(t *testing.T) {
	s := following(t, 0.8, nil, policy.Guard{MaxUnproven: policy.AllPods})
	s.Cluster.Hear(nil, func(_ *pod.Pod, _ []workload.Workload, _ *ratios.Table, creating bool) need.Demand {
		return needs(500, lowMemory, func(c *need.Container) {
			if !creating {
				c.Memory.Keeps, c.Memory.KeepsLimit = "how much memory it uses now is not known", "how much memory it uses now is not known"
			}
		})
	})
	created := s.Size(asked(), "shop", "").Pod
	p := running(s, created, "a")
	if got := p.Containers[0].Desired; podtest.SizesOf(created) != "app 625m/1250m 512Mi/1Gi" || got != (podtest.Amounts{"500m", "1", "512Mi", "1Gi"}).Container() {
		t.Errorf("created with %s, it is planned with %v", podtest.SizesOf(created), got)
	}
}
