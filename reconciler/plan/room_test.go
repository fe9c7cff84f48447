package plan

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
)

// roomFor returns a node of a type with these allocatable resources.
func roomFor(nodeType, cpu, memory string) *corev1.Node {
	n := podtest.Node(nodeType)
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	return n
}

func priority(value int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Priority = &value }
}

func TestReduce(t *testing.T) {
	t.Run("resizes what can be resized", resizesWhatCanBeResized)
	t.Run("lowers memory limits depending on the kubelet's version", lowersMemoryLimitsDependingOnTheKubeletsVersion)
}

func resizesWhatCanBeResized(t *testing.T) {
	// On slow, cpu grows by a quarter and memory stays; on n4, cpu shrinks by a fifth.
	const more = "original-memory.app"
	for _, tc := range []struct {
		name     string
		pod      *corev1.Pod
		node     *corev1.Node
		around   func(*Snapshot)
		decision Decision
		reason   contract.Reason
		left     string
		sizes    string
	}{
		{name: "memory has no room, cpu shrinks", pod: podtest.Pod(podtest.Amounts{"1", "", "512Mi", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", more, "1Gi")), node: roomFor("n4", "2", "800Mi"),
			decision: Resize, reason: contract.NodeCapacity, left: "except container app: memory", sizes: "app 800m/0 512Mi/0"},
		{name: "cpu has no room, memory grows", pod: podtest.Pod(podtest.Amounts{"1", "", "512Mi", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "2", more, "1Gi")), node: roomFor("n2d", "1500m", "4Gi"),
			decision: Resize, reason: contract.NodeCapacity, left: "except container app: cpu", sizes: "app 1/0 1Gi/0"},
		{name: "one container shrinks, another has no room", pod: podtest.Pod(podtest.Amounts{"1", "", "", ""}, podtest.AsResized, podtest.WithSecond(podtest.Amounts{"4", "", "", ""}), podtest.ManagedBy(podtest.ResizeOf(10, "app", "second")), podtest.Annotated("original-cpu.app", "2", "original-cpu.second", "2")), node: roomFor("n2d", "3", "4Gi"),
			decision: Resize, reason: contract.NodeCapacity, left: "except container app: cpu", sizes: "app 1/0 0/0, second 2/0 0/0"},
		{name: "all of it grows without room", pod: podtest.Pod(podtest.Amounts{"1", "", "", ""}, podtest.AsCreated), node: roomFor("slow", "1100m", "4Gi"),
			decision: Skip, reason: contract.NodeCapacity, sizes: "app 1/0 0/0"},
		{name: "under pressure, only decreases are applied", pod: podtest.Pod(podtest.Amounts{"1", "", "512Mi", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", more, "1Gi")), node: pressed(roomFor("n4", "8", "8Gi")),
			decision: Resize, reason: contract.NodePressure, left: "except container app: memory", sizes: "app 800m/0 512Mi/0"},
		{name: "request and limit of a Guaranteed pod stay together", pod: podtest.Pod(podtest.Amounts{"1", "1", "512Mi", "512Mi"}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", more, "1Gi", "original-memory-limit.app", "1Gi")), node: roomFor("n4", "2", "800Mi"),
			decision: Resize, reason: contract.NodeCapacity, left: "except container app: memory", sizes: "app 800m/800m 512Mi/512Mi"},
		{name: "a resize is deferred, the rest shrinks", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsResized, podtest.Said(corev1.PodResizePending, "Deferred", 5, 20), podtest.Annotated("original-cpu.app", "2", more, "512Mi")), node: roomFor("n2d", "8", "8Gi"),
			decision: Resize, reason: contract.ResizeDeferred, left: "except container app: cpu", sizes: "app 1/0 512Mi/0"},
		{name: "a resize is in progress", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsResized, podtest.Said(corev1.PodResizeInProgress, "", 5, 20), podtest.Annotated("original-cpu.app", "2", more, "512Mi")), node: roomFor("n2d", "8", "8Gi"),
			decision: Skip, reason: contract.ResizeInProgress, sizes: "app 1/0 1Gi/0"},
		{name: "the static CPU manager allows memory of a Guaranteed pod", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated), node: roomFor("big", "8", "8Gi"),
			around:   func(s *Snapshot) { s.Around.Infeasible = []string{podtest.StaticCPU} },
			decision: Resize, reason: contract.ResizeInfeasible, left: "except container app: cpu", sizes: "app 1/1 512Mi/512Mi"},
		{name: "the static CPU manager prevents cpu of a Guaranteed pod", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated), node: roomFor("n4", "8", "8Gi"),
			around:   func(s *Snapshot) { s.Around.Infeasible = []string{podtest.StaticCPU} },
			decision: Skip, reason: contract.ResizeInfeasible, sizes: "app 1/1 1Gi/1Gi"},
		{name: "the static CPU manager of 1.33 prevents any resize of a Guaranteed pod", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated), node: roomFor("big", "8", "8Gi"),
			around: func(s *Snapshot) {
				s.Around.Infeasible = []string{"Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy"}
			},
			decision: Skip, reason: contract.ResizeInfeasible, sizes: "app 1/1 1Gi/1Gi"},
		{name: "the static CPU manager allows a Burstable pod", pod: podtest.Pod(podtest.Burstable, podtest.AsCreated), node: roomFor("n4", "8", "8Gi"),
			around:   func(s *Snapshot) { s.Around.Infeasible = []string{podtest.StaticCPU} },
			decision: Resize, sizes: "app 800m/1600m 1Gi/2Gi"},
		{name: "a critical pod does not fit although it shrinks", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated, priority(2_000_000_000)), node: roomFor("n4", "8", "512Mi"),
			decision: Skip, reason: contract.NodeCapacity, sizes: "app 1/0 1Gi/0"},
		{name: "a critical pod fits", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated, priority(2_000_001_000)), node: roomFor("n4", "8", "2Gi"),
			decision: Resize, sizes: "app 800m/0 1Gi/0"},
		{name: "a pod that is not critical shrinks without room", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated, priority(1_999_999_999)), node: roomFor("n4", "8", "512Mi"),
			decision: Resize, sizes: "app 800m/0 1Gi/0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.pod.Status.QOSClass = classOf(tc.pod)
			s := snapshotOf(t, tc.pod, tc.node)
			if tc.around != nil {
				tc.around(s)
			}
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			plan := planner.Plan(s)
			if plan.Decision != tc.decision {
				t.Errorf("%v because of %v, want %v", plan.Decision, plan.Reasons, tc.decision)
			}
			last := Reason{}
			if len(plan.Reasons) > 0 {
				last = plan.Reasons[len(plan.Reasons)-1]
			}
			if last.Code != tc.reason || !strings.HasSuffix(last.Message, tc.left) {
				t.Errorf("reasons %v, want %s %q", plan.Reasons, tc.reason, tc.left)
			}
			done := patched(t, tc.pod, plan.Patch(resizing(plan), ""))
			if got := podtest.SizesOf(done); got != tc.sizes {
				t.Errorf("%s, want %s", got, tc.sizes)
			}
			checkPatch(t, tc.pod, plan)
			if plan.Decision != Resize || tc.reason == "" {
				return
			}
			// A partial plan is not recorded as applied, and only the left-out part remains.
			done = carriedOut(t, tc.pod, plan, 40)
			if _, ok := done.Annotations[contract.AppliedInstanceType]; ok {
				t.Error("recorded as applied")
			}
			s.Pod = pod.From(done)
			if again := planner.Plan(s); again.Decision != Skip || again.Reasons[0].Code != tc.reason || again.Pending() {
				t.Errorf("applied and planned again: %v because of %v", again.Decision, again.Reasons)
			}
		})
	}
}

func pressed(n *corev1.Node) *corev1.Node {
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}}
	return n
}

func lowersMemoryLimitsDependingOnTheKubeletsVersion(t *testing.T) {
	for version, shrinks := range map[string]bool{
		"v1.33.13": false, "v1.34.0": true, "v1.36.3": true, "v1.34.1-gke.1234": true, "v1.33.5-eks-3abbec1": false, "v2.0.0": true, "": false, "fargate": false,
	} {
		t.Run(version, func(t *testing.T) {
			n := podtest.Node("big")
			n.Status.NodeInfo.KubeletVersion = version
			s := snapshotOf(t, podtest.Pod(podtest.Burstable, podtest.AsCreated), n)
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			plan := planner.Plan(s)
			if got := plan.Containers[0].Desired.Memory; (got.Limit == podtest.GiB) != shrinks || got.Request != podtest.GiB/2 {
				t.Errorf("memory %v because of %v", got, plan.Reasons)
			}
			planner.KeepMemoryLimits = true // The API server is older.
			if plan := planner.Plan(s); plan.Containers[0].Desired.Memory.Limit != 2*podtest.GiB {
				t.Errorf("with an older API server, memory %v", plan.Containers[0].Desired.Memory)
			}
		})
	}
	if planner := (&Planner{OwnerKinds: DefaultOwnerKinds}); planner.Imagine(pod.Imagined(podtest.Pod(podtest.Burstable)), "big", podtest.Table(t)).Containers[0].Desired.Memory.Limit != podtest.GiB {
		t.Error("on an imagined node, the limit does not shrink")
	}
}

// A pod that got more at its creation than any node has room for gets what its author wrote.
func TestSchedulable(t *testing.T) {
	keys, _ := (*seal.Ring)(nil).Renewed(podtest.Start.Add(-time.Hour))
	made := func(sizes string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.NodeName, p.CreationTimestamp, p.OwnerReferences[0].UID = "", metav1.NewTime(podtest.Start), "owner"
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: metav1.NewTime(podtest.At(2))}}
			text, err := keys.Sign(seal.SubjectOf(&p.ObjectMeta, p.Namespace), seal.Creation{At: podtest.Start, Sizes: sizes})
			if err != nil {
				t.Fatal(err)
			}
			p.Annotations[contract.CreatedSizes] = text
		}
	}
	wider := podtest.Amounts{"2", "4", "2Gi", "4Gi"}
	for _, tc := range []struct {
		name     string
		pod      *corev1.Pod
		after    int
		change   func(*Snapshot)
		decision Decision
		sizes    string
	}{
		{"immediately", podtest.Pod(wider, podtest.AsCreated, podtest.Annotated(), made("app 0 cpu 1/2>2/4 memory 2Gi/4Gi")), 11, nil, Skip, "app 2/4 2Gi/4Gi"},
		{"after ten seconds", podtest.Pod(wider, podtest.AsCreated, podtest.Annotated(), made("app 0 cpu 1/2>2/4 memory 2Gi/4Gi")), 12, nil, Resize, "app 1/4 2Gi/4Gi"},
		{"in a freeze", podtest.Pod(wider, podtest.AsCreated, podtest.Annotated(), made("app 0 cpu 1/2>2/4 memory 2Gi/4Gi")), 12, func(s *Snapshot) { s.Frozen = &Stop{} }, Skip, "app 2/4 2Gi/4Gi"},
		{"in a pause", podtest.Pod(wider, podtest.AsCreated, podtest.Annotated(), made("app 0 cpu 1/2>2/4 memory 2Gi/4Gi")), 12, func(s *Snapshot) { s.Paused = &Stop{} }, Skip, "app 2/4 2Gi/4Gi"},
		{"opted out since", podtest.Pod(wider, podtest.AsCreated, podtest.Annotated("skip", "true"), made("app 0 cpu 1/2>2/4 memory 2Gi/4Gi")), 12, nil, Skip, "app 2/4 2Gi/4Gi"},
		{"being deleted", podtest.Pod(wider, podtest.AsCreated, podtest.Annotated(), made("app 0 cpu 1/2>2/4 memory 2Gi/4Gi"), func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(podtest.At(3))) }), 12, nil, Skip, "app 2/4 2Gi/4Gi"},
		{"next to a largest ratio of the limit to the request", podtest.Pod(wider, podtest.AsCreated, podtest.Annotated(), made("app 0 cpu 1/2>2/4 memory 2Gi/4Gi")), 12, func(s *Snapshot) {
			s.Around.LimitRanges = []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, MaxLimitRequestRatio: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}}}
		}, Resize, "app 1/2 2Gi/4Gi"},
		{"Guaranteed", podtest.Pod(podtest.Amounts{"2", "2", "2Gi", "2Gi"}, podtest.AsCreated, podtest.Annotated(), made("app 0 cpu 1/1>2/2 memory 1Gi/1Gi>2Gi/2Gi")), 12, nil, Resize, "app 1/1 1Gi/1Gi"},
		{"smaller than its author wrote", podtest.Pod(wider, podtest.AsCreated, podtest.Annotated(), made("app 0 cpu 3/6>2/4 memory 2Gi/4Gi")), 12, nil, Skip, "app 2/4 2Gi/4Gi"},
		{"a part of it is larger", podtest.Pod(wider, podtest.AsCreated, podtest.Annotated(), made("app 0 cpu 3/6>2/4 memory 1Gi/2Gi>2Gi/4Gi")), 12, nil, Resize, "app 2/4 1Gi/4Gi"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Snapshot{Pod: pod.FromProven(tc.pod, keys), Table: podtest.Table(t), Now: podtest.At(tc.after)}
			if tc.change != nil {
				tc.change(s)
			}
			p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			done := patched(t, tc.pod, p.Patch(resizing(p), ""))
			if got := podtest.SizesOf(done); p.Decision != tc.decision || p.Reasons[0].Code != contract.NotScheduled || got != tc.sizes {
				t.Errorf("%v to %s because of %v, want %v to %s", p.Decision, got, p.Reasons, tc.decision, tc.sizes)
			}
			if tc.name == "immediately" && !p.ReplanAt.Equal(podtest.At(12)) {
				t.Errorf("planned again at %s", p.ReplanAt)
			}
			for _, a := range p.Actions() {
				if _, ok := a.Annotations[contract.AppliedInstanceType]; ok {
					t.Error("it is annotated with a node type")
				}
			}
		})
	}
}

// A pod that would be rejected at its creation gets as much as it may.
func TestFallBack(t *testing.T) {
	list := func(name corev1.ResourceName, amount string) corev1.ResourceList {
		return corev1.ResourceList{name: resource.MustParse(amount)}
	}
	quota := func(name corev1.ResourceName, hard, used string) func(*Snapshot) {
		return func(s *Snapshot) {
			s.Around.Quotas = append(s.Around.Quotas, &corev1.ResourceQuota{Status: corev1.ResourceQuotaStatus{Hard: list(name, hard), Used: list(name, used)}})
		}
	}
	most := func(kind corev1.LimitType, name corev1.ResourceName, amount string) func(*Snapshot) {
		return func(s *Snapshot) {
			s.Around.LimitRanges = []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: kind, Max: list(name, amount)}}}}}
		}
	}
	both := func(all ...func(*Snapshot)) func(*Snapshot) {
		return func(s *Snapshot) {
			for _, change := range all {
				change(s)
			}
		}
	}
	burstable, guaranteed := podtest.Amounts{"1", "2", "1Gi", "2Gi"}, podtest.Amounts{"1", "1", "1Gi", "1Gi"}
	for _, tc := range []struct {
		name   string
		size   podtest.Amounts
		change func(*Snapshot)
		sizes  string
		reason contract.Reason
	}{
		{"room for all", burstable, quota(corev1.ResourceRequestsCPU, "10", "8"), "app 2/4 2Gi/4Gi", ""},
		{"room for a part of cpu", burstable, quota(corev1.ResourceRequestsCPU, "10", "9500m"), "app 1500m/4 2Gi/4Gi", contract.QuotaExceeded},
		{"room for a part of memory", burstable, quota(corev1.ResourceRequestsMemory, "10Gi", "9984Mi"), "app 2/4 1280Mi/4Gi", contract.QuotaExceeded},
		{"room for a part of both", burstable, both(quota(corev1.ResourceRequestsMemory, "10Gi", "9984Mi"), quota(corev1.ResourceRequestsCPU, "10", "9500m")), "app 1500m/4 1280Mi/4Gi", contract.QuotaExceeded},
		{"room for nothing", burstable, quota(corev1.ResourceRequestsCPU, "10", "10"), "app 1/4 2Gi/4Gi", contract.QuotaExceeded},
		{"room for a part of the limit", burstable, quota(corev1.ResourceLimitsCPU, "10", "9"), "app 1500m/3 2Gi/4Gi", contract.QuotaExceeded},
		{"a part of a Guaranteed pod", guaranteed, quota(corev1.ResourceRequestsCPU, "10", "9500m"), "app 1500m/1500m 2Gi/2Gi", contract.QuotaExceeded},
		{"the most that a LimitRange allows", guaranteed, most(corev1.LimitTypeContainer, corev1.ResourceMemory, "1280Mi"), "app 2/2 1280Mi/1280Mi", contract.LimitRangeViolation},
		{"the most that a LimitRange allows of a pod", burstable, most(corev1.LimitTypePod, corev1.ResourceCPU, "3"), "app 1500m/3 2Gi/4Gi", contract.LimitRangeViolation},
	} {
		t.Run(tc.name, func(t *testing.T) {
			layer := &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "half": {CPUPerf: 0.5, MemoryPerf: 0.5}}}
			table, err := ratios.Merge([]*ratios.Layer{layer})
			if err != nil {
				t.Fatal(err)
			}
			object := podtest.Pod(tc.size, podtest.AsCreated)
			s := &Snapshot{Pod: pod.BeingCreated(object, "", podtest.Start), Table: table, NodeType: "half", Creating: true, Now: podtest.Start}
			tc.change(s)
			p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			if got := podtest.SizesOf(patched(t, object, p.Patch(resizing(p), ""))); got != tc.sizes || tc.reason != "" && p.Reasons[0].Code != tc.reason {
				t.Errorf("%v to %s because of %v, want %s because of %s", p.Decision, got, p.Reasons, tc.sizes, tc.reason)
			}
		})
	}
}
