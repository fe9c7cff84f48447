package creation

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// A pod that is being created gets no size that a running pod would not get.
func TestRulesOfRunningPods(t *testing.T) {
	guarded := func(s *Sizer, guard policy.Guard) {
		layer := clustertest.Published()
		layer.Settings = keys.Some(policy.Settings{Guard: guard})
		s.Cluster.Ratios = clustertest.Store(t, layer)
	}
	know := func(s *Sizer, pods ...*corev1.Pod) {
		var read []*pod.Pod
		for _, p := range pods {
			read = append(read, pod.From(p))
		}
		if err := s.Cluster.Know(read, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, why string
		sizer     func(*Sizer)
		changes   changes
	}{
		{"an open breaker", "Degraded", func(s *Sizer) {
			s.Cluster.Holds = clustertest.Holding(hold.Hold{Scope: hold.Scope{Namespace: "shop"}, Kind: hold.Breaker})
		}, changes{selects("n4")}},
		{"a schedule", "OutsideSchedule", func(s *Sizer) {
			evening, err := schedule.New(0, 20*60, 21*60, nil) // The clock of the cluster stands at midnight.
			if err != nil {
				t.Fatal(err)
			}
			guarded(s, policy.Guard{Enabled: true, MaxUnproven: policy.AllPods, Schedule: schedule.Schedule{evening}})
		}, changes{selects("n4")}},
		{"a size that made a pod of the version worse", "CanaryReverted", func(s *Sizer) {
			guarded(s, policy.Guard{Enabled: true, MaxUnproven: intstr.FromInt32(1), Window: 5 * time.Minute, Cooldown: 10 * time.Minute, MaxChange: 1})
			hurt := podtest.Pod(podtest.Burstable, clustertest.Named("shop", "web-1-hurt", "b"), podtest.AsResized,
				podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi", "applied-sizes", "app 0 cpu 1/2>800m/1600m memory 1Gi/2Gi",
					"reverted", `[{"at":"2026-11-20T23:59:00Z","container":"app","resource":"cpu","hurt":"800m/1600m","back":"1/2","times":1,"harm":"Restarts","message":""}]`),
				podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Reverts, contract.AppliedSizes)))
			hurt.OwnerReferences[0].Name, hurt.OwnerReferences[0].UID = "web-1", "owner"
			know(s, hurt)
		}, changes{selects("n4")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := sizer(t)
			tc.sizer(s)
			if got := s.Size(asked(tc.changes...), "shop", ""); got.Pod != nil || !strings.Contains(got.Why, tc.why) {
				t.Errorf("got %v, because %q; want it to stay because %q", got.Pod, got.Why, tc.why)
			}
		})
	}
}

// A DaemonSet's pod on a node without room for what it needs there gets as much as there is, and its full limit.
func TestNodeWithoutRoom(t *testing.T) {
	for _, tc := range []struct{ neighbor, want string }{{"2500m", "2/4"}, {"3500m", "1500m/4"}, {"4", "1/4"}} {
		s, layer := sizer(t), clustertest.Published()
		layer.Ratios["n4"] = ratios.Ratio{CPUPerf: 0.5, MemoryPerf: 1}
		s.Cluster.Ratios = clustertest.Store(t, layer)
		neighbor := pod.From(podtest.Pod(podtest.Amounts{tc.neighbor, "", "1Gi", ""}, clustertest.Named("shop", "large", "b")))
		if err := s.Cluster.Know([]*pod.Pod{neighbor}, nil); err != nil {
			t.Fatal(err)
		}
		if got := s.Size(asked(onNode("b")), "shop", ""); got.Pod == nil || cpuOf(got.Pod) != tc.want {
			t.Errorf("next to %s: got %v, because %q; want %s", tc.neighbor, got.Pod, got.Why, tc.want)
		}
	}
}

// A pod starts with a boost only if a node that it may run on has room for that now: it must not stay pending.
func TestBoost(t *testing.T) {
	times := func(n uint64) policy.Startup {
		return policy.Startup{CPU: sizing.Boost{Factor: sizing.Factor{Num: n, Den: 1}}, AtMost: time.Minute}
	}
	for _, tc := range []struct {
		name     string
		startup  policy.Startup
		neighbor string
		change   func(*corev1.Pod)
		cpu      string
	}{
		{"on its node", times(3), "1m", onNode("b"), "2400m/4800m"},
		{"on nodes of its type", times(3), "1m", selects("n4"), "2400m/4800m"},
		{"on none of its type", times(3), "5500m", selects("n4"), "800m/1600m"},
		{"more than any node has", times(9), "1m", selects("n4"), "800m/1600m"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, layer := sizer(t), clustertest.Published()
			layer.Settings = keys.Some(policy.Settings{Startup: tc.startup})
			s.Cluster.Ratios = clustertest.Store(t, layer)
			neighbor := pod.From(podtest.Pod(podtest.Amounts{tc.neighbor, "", "1Gi", ""}, clustertest.Named("shop", "large", "b")))
			if err := s.Cluster.Know([]*pod.Pod{neighbor}, nil); err != nil {
				t.Fatal(err)
			}
			if got := s.Size(asked(tc.change), "shop", ""); got.Pod == nil || cpuOf(got.Pod) != tc.cpu {
				t.Errorf("got %v, because %q; want %s", got.Pod, got.Why, tc.cpu)
			}
		})
	}
}

// Init containers stay, sidecars follow --sidecars, and a limit alone may be what changes.
func TestContainers(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	with := func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{
			{Name: "init", Resources: podtest.Burstable.Requirements()},
			{Name: "proxy", RestartPolicy: &always, Resources: podtest.Burstable.Requirements()},
		}
	}
	for _, sidecars := range []bool{false, true} {
		s := sizer(t)
		s.Planner.Sidecars = sidecars
		got := s.Size(asked(selects("n4"), with), "shop", "").Pod
		want := map[bool]string{false: "1", true: "800m"}[sidecars]
		if init, proxy := got.Spec.InitContainers[0].Resources.Requests.Cpu().String(), got.Spec.InitContainers[1].Resources.Requests.Cpu().String(); init != "1" || proxy != want || cpuOf(got) != "800m/1600m" {
			t.Errorf("sidecars %t: init %s, proxy %s, app %s", sidecars, init, proxy, cpuOf(got))
		}
	}
	s := sizer(t)
	p := asked(selects("n4"), func(p *corev1.Pod) {
		r := &p.Spec.Containers[0].Resources
		r.Requests[corev1.ResourceCPU], r.Limits[corev1.ResourceCPU] = resource.MustParse("50m"), resource.MustParse("100m")
	})
	got := s.Size(p, "shop", "").Pod // A bound keeps the request.
	if got == nil || cpuOf(got) != "50m/80m" {
		t.Fatalf("got %v", got)
	}
	running := made(got, "b")
	running.CreationTimestamp = metav1.NewTime(podtest.Start)
	if read := pod.FromProven(running, s.Keys()); !read.SizedAtCreation() || read.Containers[0].Original.CPU.Limit != 100 || seal.SubjectOf(&running.ObjectMeta, "shop").Owner != "owner" {
		t.Errorf("original %v", read.Containers[0].Original)
	}
}
