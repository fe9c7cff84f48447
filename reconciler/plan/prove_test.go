package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Tests start on a Saturday at midnight.
func TestSchedule(t *testing.T) {
	days, err := schedule.ParseDays("Sun")
	if err != nil {
		t.Fatal(err)
	}
	sunday, err := schedule.New(days, 0, 24*60, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	layer := ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "big": {CPUPerf: 2, MemoryPerf: 2}}}
	always, err := ratios.Merge([]*ratios.Layer{&layer})
	if err != nil {
		t.Fatal(err)
	}
	layer.Settings = keys.Some(policy.Settings{Guard: policy.Guard{Schedule: schedule.Schedule{sunday}}})
	sundays, err := ratios.Merge([]*ratios.Layer{&layer})
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * 60 * 60
	for _, tc := range []struct {
		name     string
		pod      *corev1.Pod
		seconds  int
		change   func(*Snapshot)
		decision Decision
		reason   contract.Reason
	}{
		{"a resize before the window", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), day - 1, nil, Skip, contract.OutsideSchedule},
		{"a resize in the window", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), day, nil, Resize, ""},
		{"a resize without a schedule", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), day - 1, func(s *Snapshot) { s.Table = always }, Resize, ""},
		{"a preview without a time", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), 0, func(s *Snapshot) { s.Now = time.Time{} }, Resize, ""},
		{"a pod that needs no resize", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), 0, func(s *Snapshot) { s.Around.Node = podtest.Node("n2d") }, Align, contract.AlreadyAligned},
		{"a revert", leaky(), 60, nil, Resize, contract.Reverted},
		{"a restore", leaky(), 60, func(s *Snapshot) { s.Restore = true }, Resize, contract.Restored},
		{"a size that its node refuses", podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed),
			podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20), podtest.SizedForN4, podtest.AsResized), 60, nil, Resize, contract.ResizeInfeasible},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshotOf(t, tc.pod, podtest.Node("big"))
			s.Table, s.Now = sundays, podtest.At(tc.seconds)
			if tc.change != nil {
				tc.change(s)
			}
			p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			if p.Decision != tc.decision || tc.reason != "" && p.Reasons[0].Code != tc.reason {
				t.Errorf("decision %v, reasons %v", p.Decision, p.Reasons)
			}
			if p.Kind == RevertRefused {
				return // It is planned again when it has that size.
			}
			if opens := p.ReplanAt.Equal(podtest.At(day)); opens != (tc.reason == contract.OutsideSchedule) || opens == p.Pending() {
				t.Errorf("planned again at %v, pending %v", p.ReplanAt, p.Pending())
			}
		})
	}
	t.Run("a changed schedule plans pods again", func(t *testing.T) {
		of := snapshotOf(t, podtest.Pod(podtest.Guaranteed, podtest.AsCreated), podtest.Node("big")).Pod
		planner := &Planner{OwnerKinds: DefaultOwnerKinds}
		a, b := planner.Rule(of, podtest.Node("big"), "", always), planner.Rule(of, podtest.Node("big"), "", sundays)
		if a.SizesAs(&b) || !a.SizesAs(&a) {
			t.Error("the tables size the pod at the same times")
		}
	})
	t.Run("a changed guard plans pods again, as reverted sizes may be tried then", func(t *testing.T) {
		of := snapshotOf(t, podtest.Pod(podtest.Guaranteed, podtest.AsCreated), podtest.Node("big")).Pod
		planner := &Planner{OwnerKinds: DefaultOwnerKinds}
		a := planner.Rule(of, podtest.Node("big"), "", always)
		for _, changed := range []keys.Partial[policy.Settings]{
			keys.Some(policy.Settings{}, "guard.enabled"), keys.Some(policy.Settings{Guard: policy.Guard{Cooldown: time.Minute}}), keys.Some(policy.Settings{Guard: policy.Guard{Unready: time.Second}}),
		} {
			layer.Settings = changed
			table, err := ratios.Merge([]*ratios.Layer{&layer})
			if err != nil {
				t.Fatal(err)
			}
			b := planner.Rule(of, podtest.Node("big"), "", table)
			if a.SizesAs(&b) {
				t.Errorf("pods are planned as before with %+v instead of %+v", b.profile.Guard, a.profile.Guard)
			}
		}
	})
}

// On big nodes, cpu and memory shrink to half. Ten pods have the same controller, so one of them tries
// that.
func TestTryOut(t *testing.T) {
	authored := func(n int) *corev1.Pod {
		p := podtest.Pod(podtest.Guaranteed, podtest.AsCreated)
		p.Name, p.UID, p.OwnerReferences[0].UID = fmt.Sprintf("web-%d", n), types.UID(fmt.Sprint("uid-", n)), "rs-uid"
		return p
	}
	// The first pod was resized at second 10, is well, and is observed until second 310.
	ready := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	}
	calm := leaky(ready, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{} })
	elsewhere := podtest.Node("n2d")
	elsewhere.Name = "elsewhere"
	on := func(node string, p *corev1.Pod) *corev1.Pod {
		p.Spec.NodeName = node
		return p
	}
	controlled := workload.Group{Namespace: "default", Workload: workload.Workload{Kind: "UID", Name: "rs-uid"}}
	canary, all := workload.Claim{Group: controlled, Places: 1}, podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}
	limited := func(g policy.Guard, off ...string) func(*Snapshot) {
		g.MaxUnproven = policy.AllPods
		return func(s *Snapshot) { s.Table = guardedBy(t, 2, g, off...) }
	}
	unproven := func(most int32) func(*Snapshot) {
		return func(s *Snapshot) { s.Table = guardedBy(t, 2, policy.Guard{MaxUnproven: intstr.FromInt32(most)}) }
	}
	sundays, err := schedule.ParseDays("Sun")
	if err != nil {
		t.Fatal(err)
	}
	sunday, err := schedule.New(sundays, 0, 24*60, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	closed := func(s *Snapshot) { s.Table = guardedBy(t, 2, policy.Guard{Schedule: schedule.Schedule{sunday}}) }
	// The second pod was resized at second 260.
	second := func(s *Snapshot) {
		next := calm.DeepCopy()
		next.Name, next.UID, next.ManagedFields = "web-1", "uid-1", nil
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(260, "app"), podtest.Managed(contract.FieldManager, "", 261, contract.AppliedAt, contract.AppliedSizes))(next)
		s.Siblings()[1] = pod.From(next)
	}
	budgeted := func(allowed int, g policy.Guard, off ...string) func(*Snapshot) {
		return func(s *Snapshot) {
			limited(g, off...)(s)
			s.Budgets = func() []workload.Limit {
				return []workload.Limit{{Name: "most", Allowed: 9, Pods: s.Siblings}, {Name: "web", Allowed: allowed, Pods: s.Siblings}}
			}
		}
	}
	// starting makes the pod start so many seconds ago, while a budget allows no disruption.
	starting := func(ago int, changes ...func(*corev1.Pod)) func(*Snapshot) {
		return func(s *Snapshot) {
			s.Table, s.Budgets = guardedBy(t, 2, policy.Guard{}), func() []workload.Limit { return []workload.Limit{{Name: "web", Allowed: 0, Pods: s.Siblings}} }
			p := authored(9)
			p.CreationTimestamp = metav1.NewTime(s.Now.Add(-time.Duration(ago) * time.Second))
			for _, change := range changes {
				change(p)
			}
			s.Pod = pod.From(p)
		}
	}
	budget := func(name string, places int) workload.Claim {
		return workload.Claim{Group: workload.Group{Namespace: "default", Workload: workload.Workload{Kind: "PodDisruptionBudget", Name: name}}, Places: places}
	}
	hurt := leaky(ready, memoryReverted("1"), sized(podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}), podtest.ManagedBy(podtest.ResizeOf(51, "app")))
	for _, tc := range []struct {
		name     string
		first    *corev1.Pod
		seconds  int
		change   func(*Snapshot)
		decision Decision
		reason   contract.Reason
		desired  podtest.Amounts
		claims   []workload.Claim
		replan   int
	}{
		{name: "nobody tries it", first: authored(0), decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}, claims: []workload.Claim{canary}},
		{name: "the first pod tries it", first: calm, decision: Skip, reason: contract.WaitingForProof, desired: podtest.Guaranteed, replan: 310},
		{name: "the first pod has proven it", first: calm, seconds: 310, decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}},
		{name: "the first pod tries it on another node type", first: on(elsewhere.Name, calm.DeepCopy()), decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}, claims: []workload.Claim{canary}},
		{name: "one of three pods has proven it", first: calm, seconds: 310, change: unproven(3), decision: Resize, desired: all, claims: []workload.Claim{{Group: controlled, Places: 2}}},
		{name: "a pod on another node type has proven it", first: on(elsewhere.Name, calm.DeepCopy()), seconds: 310, change: unproven(3), decision: Resize, desired: all, claims: []workload.Claim{{Group: controlled, Places: 3}}},
		{name: "an increase does not wait", first: calm, change: func(s *Snapshot) { s.Around.Node = podtest.Node("slow") }, decision: Resize, desired: podtest.Amounts{"1250m", "1250m", "1Gi", "1Gi"}},
		{name: "an increase of cpu does not wait for a decrease of memory", first: calm, change: func(s *Snapshot) { s.Table = guardedBy(t, 0.5, policy.Guard{}) },
			decision: Resize, reason: contract.WaitingForProof, desired: podtest.Amounts{"2", "2", "1Gi", "1Gi"}, replan: 310},
		{name: "memory made the first pod worse, and cpu is tried there", first: hurt, decision: Skip, reason: contract.WaitingForProof, desired: podtest.Guaranteed, replan: 351},
		{name: "memory made the first pod worse, which the plan says while cpu is tried", first: hurt, decision: Skip, reason: contract.CanaryReverted, desired: podtest.Guaranteed, replan: 351},
		{name: "memory made the first pod worse, and cpu has proven itself", first: hurt, seconds: 400, decision: Resize, reason: contract.CanaryReverted, desired: podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}, replan: 1000},
		{name: "all pods may have less", first: calm, change: func(s *Snapshot) { s.Table = guardedBy(t, 2, policy.Guard{MaxUnproven: policy.AllPods}) }, decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}},
		{name: "the schedule is closed, too", first: calm, change: closed, decision: Skip, reason: contract.OutsideSchedule, desired: podtest.Guaranteed, replan: 310},
		{name: "the first pod tries it, although the schedule is closed", first: calm, change: closed, decision: Skip, reason: contract.WaitingForProof, desired: podtest.Guaranteed, replan: 310},
		{name: "one pod of the workload may have less", first: calm, change: unproven(1), decision: Skip, reason: contract.WaitingForProof, desired: podtest.Guaranteed, replan: 310},
		{name: "two pods of the workload may have less", first: calm, change: unproven(2), decision: Resize, desired: all, claims: []workload.Claim{{Group: controlled, Places: 1}}},
		{name: "two pods may try it first", first: authored(0), change: unproven(2), decision: Resize, desired: all, claims: []workload.Claim{{Group: controlled, Places: 2}}},
		{name: "the first pod has proven it, and the second just got it", first: calm, seconds: 310, change: second, decision: Resize, desired: all},
		{name: "an increase of cpu does not wait for a budget", first: calm, change: func(s *Snapshot) {
			budgeted(0, policy.Guard{})(s)
			s.Table = guardedBy(t, 0.5, policy.Guard{MaxUnproven: policy.AllPods})
		}, decision: Resize, reason: contract.DisruptionBudget, desired: podtest.Amounts{"2", "2", "1Gi", "1Gi"}},
		{name: "a budget is heard of although the node has no room", first: calm, change: func(s *Snapshot) {
			budgeted(0, policy.Guard{})(s)
			s.Table, s.Around.Node = guardedBy(t, 0.5, policy.Guard{MaxUnproven: policy.AllPods}), roomFor("big", "1", "4Gi")
		}, decision: Skip, reason: contract.NodeCapacity, desired: podtest.Guaranteed, replan: 160},
		{name: "a budget allows no disruption", first: authored(0), change: budgeted(0, policy.Guard{}), decision: Skip, reason: contract.DisruptionBudget, desired: podtest.Guaranteed},
		{name: "a budget allows no disruption, and is not asked for its pods", first: calm, change: func(s *Snapshot) {
			limited(policy.Guard{})(s)
			s.Budgets = func() []workload.Limit {
				return []workload.Limit{{Name: "web", Allowed: 0, Pods: func() []*pod.Pod { panic("it may have very many") }}}
			}
		}, decision: Skip, reason: contract.DisruptionBudget, desired: podtest.Guaranteed},
		{name: "a budget allows the disruption of the pod that has less", first: calm, seconds: 60, change: budgeted(1, policy.Guard{}), decision: Skip, reason: contract.DisruptionBudget, desired: podtest.Guaranteed, replan: 70},
		{name: "the budget knows how the pod is that has less", first: calm, change: budgeted(1, policy.Guard{}), decision: Resize, desired: all, claims: []workload.Claim{budget("most", 9), budget("web", 1)}},
		{name: "a budget allows one more", first: calm, seconds: 60, change: budgeted(2, policy.Guard{}), decision: Resize, desired: all, claims: []workload.Claim{budget("most", 8), budget("web", 1)}},
		{name: "as many budgets as may select the pod", first: calm, change: func(s *Snapshot) {
			budgeted(9, policy.Guard{})(s)
			s.Budgets = func() []workload.Limit {
				return slices.Repeat([]workload.Limit{{Name: "web", Allowed: 9, Pods: s.Siblings}}, workload.MostBudgets)
			}
		}, decision: Resize, desired: all, claims: []workload.Claim{budget("web", 9)}},
		{name: "too many budgets", first: calm, change: func(s *Snapshot) {
			budgeted(9, policy.Guard{})(s)
			s.Budgets = func() []workload.Limit {
				return slices.Repeat([]workload.Limit{{Name: "web", Allowed: 9, Pods: func() []*pod.Pod { panic("it takes too long") }}}, workload.MostBudgets+1)
			}
		}, decision: Skip, reason: contract.DisruptionBudget, desired: podtest.Guaranteed},
		{name: "cpu made the first pod worse, and memory waits for a budget", first: leaky(ready, sized(podtest.Amounts{"1", "1", "512Mi", "512Mi"}), podtest.ManagedBy(podtest.ResizeOf(51, "app")),
			podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"cpu","hurt":"500m/500m","back":"1/1","times":1,"harm":"CPUPressure","message":"slow"}]`)),
			seconds: 400, change: func(s *Snapshot) {
				budgeted(0, policy.Guard{})(s)
				s.Table = guardedBy(t, 2, policy.Guard{})
			}, decision: Skip, reason: contract.DisruptionBudget, desired: podtest.Guaranteed, replan: 460},
		{name: "a new pod waits neither for canaries nor for other pods nor for budgets", first: calm, change: starting(int(NewFor/time.Second) - 1), decision: Resize, desired: all},
		{name: "a new pod does not wait even if it is ready", first: calm, change: starting(0, ready), decision: Resize, desired: all},
		{name: "a pod that is not new waits", first: calm, change: starting(int(NewFor / time.Second)), decision: Skip, reason: contract.WaitingForProof, desired: podtest.Guaranteed, replan: 310},
		{name: "a new pod that was sized waits", first: calm, change: starting(0, podtest.SizedForN4, podtest.AsResized), decision: Skip, reason: contract.WaitingForProof, desired: podtest.Guaranteed, replan: 310},
		{name: "a new pod waits if its size made another pod worse", first: hurt, change: starting(0), decision: Resize, reason: contract.CanaryReverted, desired: podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}, replan: 700},
		{name: "a budget may count a pod that is not new", first: calm, change: budgeted(0, policy.Guard{}), decision: Skip, reason: contract.DisruptionBudget, desired: podtest.Guaranteed},
		{name: "budgets do not count", first: calm, change: budgeted(0, policy.Guard{}, "guard.disruptionBudgets"), decision: Resize, desired: all},
		{name: "the guard is disabled", first: calm, change: func(s *Snapshot) { s.Table = guardedBy(t, 2, policy.Guard{}, "guard.enabled") }, decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}},
		{name: "a preview without a time", first: calm, change: func(s *Snapshot) { s.Now = time.Time{} }, decision: Resize, desired: all},
		{name: "one resource waits, and the other stays for another reason", first: calm, change: func(s *Snapshot) {
			p := authored(9)
			restarts(corev1.ResourceCPU)(p)
			s.Pod = pod.From(p)
		}, decision: Skip, reason: contract.RestartRequired, desired: podtest.Guaranteed, replan: 310},
		{name: "an imagined node", first: calm, change: func(s *Snapshot) { s.Imagine("big") }, decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.seconds == 0 {
				tc.seconds = 100
			}
			tc.first.OwnerReferences[0].UID = "rs-uid"
			siblings := []*pod.Pod{pod.From(tc.first)}
			for n := 1; n < 10; n++ {
				siblings = append(siblings, pod.From(authored(n)))
			}
			s := snapshotOf(t, authored(9), podtest.Node("big"))
			s.Now, s.Siblings = podtest.At(tc.seconds), func() []*pod.Pod { return siblings }
			nodes := map[string]*corev1.Node{"node": s.Around.Node, elsewhere.Name: elsewhere}
			s.NodeOf = func(of *pod.Pod) *corev1.Node { return nodes[of.Node()] }
			if tc.change != nil {
				tc.change(s)
			}
			p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			if p.Decision != tc.decision || p.Containers[0].Desired != tc.desired.Container() || !slices.Equal(p.Claims, tc.claims) {
				t.Errorf("decision %v, desired %v, claims %v, reasons %v", p.Decision, p.Containers[0].Desired, p.Claims, p.Reasons)
			}
			if has := slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.Code == tc.reason }); has != (tc.reason != "") {
				t.Errorf("reasons %v, want %v", p.Reasons, tc.reason)
			}
			var replan time.Time
			if tc.replan != 0 {
				replan = podtest.At(tc.replan)
			}
			if !p.ReplanAt.Equal(replan) {
				t.Errorf("it is planned again at %v, want %v", p.ReplanAt, replan)
			}
			if tc.decision == Skip && (p.Pending() || !p.Vetoed) {
				t.Errorf("pending %v, vetoed %v", p.Pending(), p.Vetoed)
			}
		})
	}
	t.Run("a veto has the messages of its own reason alone", func(t *testing.T) {
		s := snapshotOf(t, authored(9), podtest.Node("big"))
		siblings := []*pod.Pod{pod.From(hurt), pod.From(authored(1))}
		s.Now, s.Siblings, s.NodeOf = podtest.At(100), func() []*pod.Pod { return siblings }, func(*pod.Pod) *corev1.Node { return s.Around.Node }
		p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
		if said := p.Reasons[0]; said.Code != contract.WaitingForProof || !strings.Contains(said.Message, "cpu stays") || strings.Contains(said.Message, "memory stays") {
			t.Errorf("reasons %v", p.Reasons)
		}
	})
	t.Run("a plan that lowers nothing in the end claims no place", func(t *testing.T) {
		for request, claims := range map[int64]int{999: 1, 1000: 0, 1001: 0} {
			d := &draft{scratch: &verdict{}, Plan: &Plan{Claims: []workload.Claim{canary}, Containers: []ContainerPlan{{}}}, parts: []part{{}}, rule: Ruling{profile: &ratios.Profile{}}}
			d.Containers[0].Current.CPU.Request, d.Containers[0].Desired.CPU.Request = 1000, request
			v := (&Planner{}).resize(d, &Snapshot{})
			if d.apply("resize", v); len(d.Claims) != claims {
				t.Errorf("%dm instead of 1: claims %v, want %d", request, d.Claims, claims)
			}
		}
	})
	t.Run("the share counts the pods on nodes of the type", func(t *testing.T) {
		siblings := []*pod.Pod{pod.From(calm)}
		for n := 1; n < 5; n++ {
			siblings = append(siblings, pod.From(authored(n)))
		}
		for n := 5; n < 50; n++ {
			siblings = append(siblings, pod.From(on(elsewhere.Name, authored(n))))
		}
		s := snapshotOf(t, authored(4), podtest.Node("big"))
		s.Now, s.Siblings = podtest.At(100), func() []*pod.Pod { return siblings }
		s.NodeOf = func(of *pod.Pod) *corev1.Node {
			if of.Node() == elsewhere.Name {
				return elsewhere
			}
			return s.Around.Node
		}
		// One of 5 pods tries the size, not 5 of 50.
		if p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s); p.Decision != Skip || p.Reasons[0].Code != contract.WaitingForProof {
			t.Errorf("decision %v, claims %v, reasons %v", p.Decision, p.Claims, p.Reasons)
		}
	})
}

// guardedBy returns a table with a guard, which turns off some keys, and big nodes, which have this cpu performance and twice the
// memory performance.
func guardedBy(t *testing.T, cpu float64, g policy.Guard, off ...string) *ratios.Table {
	t.Helper()
	table, err := ratios.Merge([]*ratios.Layer{{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "big": {CPUPerf: cpu, MemoryPerf: 2}}, Settings: keys.Some(policy.Settings{Guard: g}, off...)}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// A breaker stops what it is for, and nothing that makes pods better.
func TestDegraded(t *testing.T) {
	ofN4 := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	for _, tc := range []struct {
		name     string
		pod      *corev1.Pod
		node     string
		change   func(*Snapshot)
		decision Decision
		kind     Kind
		reason   contract.Reason
	}{
		{"the first resize", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), "big", nil, Skip, Sizes, contract.Degraded},
		{"a pod that its budget would let wait", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), "big", func(s *Snapshot) {
			s.Siblings = func() []*pod.Pod { return nil }
			s.NodeOf, s.Budgets = func(*pod.Pod) *corev1.Node { return nil }, func() []workload.Limit { return []workload.Limit{{Name: "web", Allowed: 0, Pods: nil}} }
		}, Skip, Sizes, contract.Degraded},
		{"a later resize", podtest.Pod(ofN4, podtest.SizedForN4, podtest.AsResized), "big", nil, Skip, Sizes, contract.Degraded},
		{"a resize to the originals", podtest.Pod(ofN4, podtest.SizedForN4, podtest.AsResized), "n2d", nil, Skip, Sizes, contract.Degraded},
		{"a pod that needs no resize", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), "n2d", nil, Align, Sizes, contract.AlreadyAligned},
		{"a revert", leaky(), "big", nil, Resize, Revert, contract.Reverted},
		{"a size that a revert raised for a moment", leaky(sized(podtest.Amounts{"500m", "500m", "1025Mi", "1025Mi"}), memoryReverted("1")), "big", nil, Resize, Revert, contract.Reverted},
		{"a restore", leaky(), "big", func(s *Snapshot) { s.Restore = true }, Resize, Restore, contract.Restored},
		{"a size that its node refuses", podtest.Pod(ofN4, podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed), podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20), podtest.SizedForN4, podtest.AsResized), "n2d", nil, Resize, RevertRefused, contract.ResizeInfeasible},
		{"a frozen cluster", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), "big", func(s *Snapshot) { s.Frozen = &Stop{Reason: "frozen"} }, Skip, Sizes, contract.Frozen},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshotOf(t, tc.pod, podtest.Node(tc.node))
			s.Now, s.Degraded = podtest.At(60), &Stop{Reason: "3 of the last 5"}
			if tc.change != nil {
				tc.change(s)
			}
			p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			if p.Decision != tc.decision || p.Kind != tc.kind || p.Reasons[0].Code != tc.reason {
				t.Errorf("decision %v, kind %v, reasons %v", p.Decision, p.Kind, p.Reasons)
			}
			if degraded := p.Reasons[0]; degraded.Code == contract.Degraded && (degraded.Message != s.Degraded.degraded() || !p.Vetoed || !p.ReplanAt.IsZero()) {
				t.Errorf("%v, vetoed: %t, again at %v", degraded, p.Vetoed, p.ReplanAt)
			}
		})
	}
}

// On big nodes, cpu and memory shrink to half, by at most a fifth at a time. A resize is observed for five
// minutes.
func TestStep(t *testing.T) {
	// Memory was reverted from a step, and cpu is done.
	hurts := func(container string) *corev1.Pod {
		return leaky(sized(podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}), podtest.ManagedBy(podtest.ResizeOf(51, "app")),
			podtest.Annotated("applied-sizes", "app 4 cpu 500m/500m memory 1Gi/1Gi>820Mi/820Mi",
				"reverted", `[{"at":"2026-11-21T00:00:50Z","container":"`+container+`","resource":"memory","hurt":"820Mi/820Mi","back":"1Gi/1Gi","times":1,"harm":"OOMKilled","message":"killed"}]`))
	}
	hurt := hurts("app")
	for _, tc := range []struct {
		name     string
		pod      *corev1.Pod
		most     float64
		seconds  int
		decision Decision
		desired  podtest.Amounts
		reason   bool
		replan   int
	}{
		{name: "the first step", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated), most: 0.2, decision: Resize, desired: podtest.Amounts{"800m", "800m", "820Mi", "820Mi"}, reason: true},
		{name: "a step that is large enough", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated), most: 0.5, decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}},
		{name: "no limit", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated), most: 1, decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}},
		{name: "a limit that is larger than the request", pod: podtest.Pod(podtest.Amounts{"1", "4", "1Gi", "3Gi"}, podtest.AsCreated), most: 0.25, decision: Resize, desired: podtest.Amounts{"750m", "3", "768Mi", "2304Mi"}, reason: true},
		{name: "the step is observed", pod: stepped("800m", "820Mi"), most: 0.2, decision: Align, desired: podtest.Amounts{"800m", "800m", "820Mi", "820Mi"}, reason: true, replan: 310},
		{name: "the next step", pod: stepped("800m", "820Mi"), most: 0.2, seconds: 310, decision: Resize, desired: podtest.Amounts{"640m", "640m", "656Mi", "656Mi"}, reason: true},
		{name: "a limit that is little larger than the request", pod: podtest.Pod(podtest.Amounts{"102m", "103m", "1Gi", "1Gi"}, podtest.AsCreated), most: 0.4, decision: Resize, desired: podtest.Amounts{"62m", "63m", "615Mi", "615Mi"}, reason: true},
		{name: "a step that hurt is not repeated", pod: hurt, most: 0.2, seconds: 100_000, decision: Align, desired: podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}},
		{name: "a step that hurt another container", pod: hurts("proxy"), most: 0.2, seconds: 100_000, decision: Resize, desired: podtest.Amounts{"500m", "500m", "820Mi", "820Mi"}, reason: true},
		{name: "no limit while a resize is observed", pod: stepped("800m", "820Mi"), most: 1, decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}},
		{name: "a step that did not hurt", pod: hurt, most: 0.1, seconds: 100_000, decision: Resize, desired: podtest.Amounts{"500m", "500m", "922Mi", "922Mi"}, reason: true},
		{name: "the last step", pod: stepped("512m", "526Mi"), most: 0.2, seconds: 310, decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshotOf(t, tc.pod, podtest.Node("big"))
			s.Now, s.Siblings, s.Table = podtest.At(max(tc.seconds, 100)), func() []*pod.Pod { return nil }, guardedBy(t, 2, policy.Guard{MaxUnproven: policy.AllPods, MaxChange: tc.most})
			p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			if p.Decision != tc.decision || p.Containers[0].Desired != tc.desired.Container() {
				t.Errorf("decision %v, desired %v, reasons %v", p.Decision, p.Containers[0].Desired, p.Reasons)
			}
			if has := slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.Code == contract.WaitingForProof }); has != tc.reason {
				t.Errorf("reasons %v", p.Reasons)
			}
			if at := podtest.At(tc.replan); tc.replan != 0 && !p.ReplanAt.Equal(at) {
				t.Errorf("it is planned again at %v, want %v", p.ReplanAt, at)
			}
		})
	}
	t.Run("the message names the key, and when the next step is", func(t *testing.T) {
		s := snapshotOf(t, stepped("800m", "820Mi"), podtest.Node("big"))
		s.Now, s.Siblings, s.Table = podtest.At(100), func() []*pod.Pod { return nil }, guardedBy(t, 2, policy.Guard{MaxUnproven: policy.AllPods, MaxChange: 0.2})
		p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
		want := "container app: cpu 800m/800m instead of 500m/500m: guard.maxChange lowers it in steps, and the next one is at " + podtest.At(310).UTC().Format(time.RFC3339) + " or later"
		if !strings.Contains(p.Reasons[0].Message, want) {
			t.Errorf("reasons %v, want %s", p.Reasons, want)
		}
	})
	t.Run("a bound does not explain a step", func(t *testing.T) {
		table, err := ratios.Merge([]*ratios.Layer{{
			Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "big": {CPUPerf: 2, MemoryPerf: 2}},
			Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 600}}, Guard: policy.Guard{MaxUnproven: policy.AllPods, MaxChange: 0.2}}),
		}})
		if err != nil {
			t.Fatal(err)
		}
		s := snapshotOf(t, podtest.Pod(podtest.Guaranteed, podtest.AsCreated), podtest.Node("big"))
		s.Now, s.Siblings, s.Table = podtest.At(100), func() []*pod.Pod { return nil }, table
		p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
		if p.Containers[0].Desired.CPU.Request != 800 || slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.Code == contract.BoundsClamped }) {
			t.Errorf("desired %v, reasons %v", p.Containers[0].Desired, p.Reasons)
		}
	})
	t.Run("small amounts get smaller, too", func(t *testing.T) {
		for amount, want := range map[int64]int64{10: 9, 5: 4, 1: 0, 1000: 900} {
			if got := lessBy(amount, 0.1, sizing.CPU); got != want {
				t.Errorf("%dm, a tenth less: %dm, want %dm", amount, got, want)
			}
		}
		if got := lessBy(1000, 0.7, sizing.CPU); got != 300 {
			t.Errorf("1, seven tenths less: %dm", got)
		}
		if got := lessBy(1<<30, 0.9, sizing.Memory); got != 103<<20 {
			t.Errorf("1Gi, nine tenths less: %d Mi", got>>20)
		}
	})
}

// stepped returns a pod whose cpu and memory were lowered to these sizes at second 10.
func stepped(cpu, memory string) *corev1.Pod {
	return leaky(sized(podtest.Amounts{cpu, cpu, memory, memory}),
		func(p *corev1.Pod) { p.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{} },
		podtest.Annotated("applied-sizes", "app 0 cpu 1/1>"+cpu+"/"+cpu+" memory 1Gi/1Gi>"+memory+"/"+memory))
}
