package creation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
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
func following(t testing.TB, n4 float64, usage need.Demand, guard policy.Guard) *Sizer {
	t.Helper()
	s, layer := sizer(t), clustertest.Published()
	layer.Ratios["n4"] = ratios.Ratio{CPUPerf: n4, MemoryPerf: 1}
	settings := layer.Settings.Complete()
	settings.Guard, settings.Demand.From, settings.Demand.Mode = guard, policy.FromUsage, policy.Initial
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
	for name, change := range map[string]func(*corev1.Pod){
		"no node":                onNode("c"),
		"no node type that fits": required(ofType("c3")),
	} {
		s := following(t, 1, needs(500), policy.Guard{MaxUnproven: policy.AllPods})
		if got := s.Size(asked(change), "shop", ""); got.Pod != nil || !strings.Contains(got.Why, "where it will run is not known") {
			t.Errorf("%s: got %v, because %q", name, got.Pod, got.Why)
		}
	}
}

// While a size has not proven itself, about as many of the new pods get it as may try it.
func TestLot(t *testing.T) {
	s := following(t, 1, needs(500), policy.Guard{Enabled: true, MaxUnproven: intstr.FromString("20%"), Window: policy.LongestWindow, MaxChange: 1})
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
		got := s.Size(asked(selects("n2d")), "shop", types.UID(fmt.Sprint("request-", i)))
		switch {
		case got.Pod != nil && cpuOf(got.Pod) == "500m/1":
			smaller++
		case got.Pod != nil || !strings.Contains(got.Why, "WaitingForProof"):
			t.Fatalf("got %v, because %q", got.Pod, got.Why)
		}
	}
	if smaller < 150 || smaller > 250 {
		t.Errorf("%d of 1000 pods get the smaller size, want a fifth", smaller)
	}
}

// A pod keeps the size that usage gave it at its creation, whatever its node needs, and one without it follows the ratio.
func TestInitial(t *testing.T) {
	s := following(t, 0.8, needs(500), policy.Guard{MaxUnproven: policy.AllPods})
	rules, _ := s.Cluster.Rules()
	for _, tc := range []struct {
		name    string
		created *corev1.Pod
		want    string
	}{
		{"sized by usage", s.Size(asked(), "shop", "").Pod, "625m/1250m"},
		{"created without the server", asked(), "1/2"},
	} {
		running := made(tc.created, "a")
		p := s.Planner.Plan(s.Cluster.Snapshot(pod.FromProven(running, s.Keys()), rules))
		if c := p.Containers[0]; c.Desired != c.Current || cpuOf(running) != tc.want {
			t.Errorf("%s: %s, planned %v → %v, because %v", tc.name, cpuOf(running), c.Current, c.Desired, p.Reasons)
		}
	}
	// On another node type, the second one is resized as its author wrote it.
	p := s.Planner.Plan(s.Cluster.Snapshot(pod.FromProven(made(asked(), "b"), s.Keys()), rules))
	if got := p.Containers[0].Desired.CPU.Request; got != 1250 {
		t.Errorf("without usage, it gets %d", got)
	}
}
