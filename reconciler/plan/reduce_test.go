package plan

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// roomFor is a node of a type that can allocate so much.
func roomFor(nodeType, cpu, memory string) *corev1.Node {
	n := podtest.Node(nodeType)
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	return n
}

func priority(value int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Priority = &value }
}

func TestReduce(t *testing.T) {
	t.Run("what can be resized is resized", whatCanBeResizedIsResized)
	t.Run("memory limits shrink by the kubelet's version", memoryLimitsShrinkByTheKubeletsVersion)
}

func whatCanBeResizedIsResized(t *testing.T) {
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
		{name: "memory without room does not keep cpu from shrinking", pod: podtest.Pod(podtest.Amounts{"1", "", "512Mi", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", more, "1Gi")), node: roomFor("n4", "2", "800Mi"),
			decision: Resize, reason: contract.NodeCapacity, left: "without container app: memory", sizes: "app 800m/0 512Mi/0"},
		{name: "cpu without room does not keep memory from growing", pod: podtest.Pod(podtest.Amounts{"1", "", "512Mi", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "2", more, "1Gi")), node: roomFor("n2d", "1500m", "4Gi"),
			decision: Resize, reason: contract.NodeCapacity, left: "without container app: cpu", sizes: "app 1/0 1Gi/0"},
		{name: "what shrinks is done while what grows waits", pod: podtest.Pod(podtest.Amounts{"1", "", "", ""}, podtest.AsResized, podtest.WithSecond(podtest.Amounts{"4", "", "", ""}), podtest.ManagedBy(podtest.ResizeOf(10, "app", "second")), podtest.Annotated("original-cpu.app", "2", "original-cpu.second", "2")), node: roomFor("n2d", "3", "4Gi"),
			decision: Resize, reason: contract.NodeCapacity, left: "without container app: cpu", sizes: "app 1/0 0/0, second 2/0 0/0"},
		{name: "all of it waits where all of it grows", pod: podtest.Pod(podtest.Amounts{"1", "", "", ""}, podtest.AsCreated), node: roomFor("slow", "1100m", "4Gi"),
			decision: Skip, reason: contract.NodeCapacity, sizes: "app 1/0 0/0"},
		{name: "under pressure nothing grows, and the rest shrinks", pod: podtest.Pod(podtest.Amounts{"1", "", "512Mi", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", more, "1Gi")), node: pressed(roomFor("n4", "8", "8Gi")),
			decision: Resize, reason: contract.NodePressure, left: "without container app: memory", sizes: "app 800m/0 512Mi/0"},
		{name: "a resource of a Guaranteed pod stays as a whole", pod: podtest.Pod(podtest.Amounts{"1", "1", "512Mi", "512Mi"}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", more, "1Gi", "original-memory-limit.app", "1Gi")), node: roomFor("n4", "2", "800Mi"),
			decision: Resize, reason: contract.NodeCapacity, left: "without container app: memory", sizes: "app 800m/800m 512Mi/512Mi"},
		{name: "what waits at the node does not keep the rest from shrinking", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsResized, podtest.Said(corev1.PodResizePending, "Deferred", 5, 20), podtest.Annotated("original-cpu.app", "2", more, "512Mi")), node: roomFor("n2d", "8", "8Gi"),
			decision: Resize, reason: contract.ResizeDeferred, left: "without container app: cpu", sizes: "app 1/0 512Mi/0"},
		{name: "nothing is tried while a resize is in progress", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsResized, podtest.Said(corev1.PodResizeInProgress, "", 5, 20), podtest.Annotated("original-cpu.app", "2", more, "512Mi")), node: roomFor("n2d", "8", "8Gi"),
			decision: Skip, reason: contract.ResizeInProgress, sizes: "app 1/0 1Gi/0"},
		{name: "under the static CPU manager the memory of a Guaranteed pod is sized", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated), node: roomFor("big", "8", "8Gi"),
			around:   func(s *Snapshot) { s.Around.Infeasible = []string{podtest.StaticCPU} },
			decision: Resize, reason: contract.ResizeInfeasible, left: "without container app: cpu", sizes: "app 1/1 512Mi/512Mi"},
		{name: "and cpu alone is not tried", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated), node: roomFor("n4", "8", "8Gi"),
			around:   func(s *Snapshot) { s.Around.Infeasible = []string{podtest.StaticCPU} },
			decision: Skip, reason: contract.ResizeInfeasible, sizes: "app 1/1 1Gi/1Gi"},
		{name: "nor anything under a kubelet of 1.33", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated), node: roomFor("big", "8", "8Gi"),
			around: func(s *Snapshot) {
				s.Around.Infeasible = []string{"Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy"}
			},
			decision: Skip, reason: contract.ResizeInfeasible, sizes: "app 1/1 1Gi/1Gi"},
		{name: "a Burstable pod is no matter of the CPU manager", pod: podtest.Pod(podtest.Burstable, podtest.AsCreated), node: roomFor("n4", "8", "8Gi"),
			around:   func(s *Snapshot) { s.Around.Infeasible = []string{podtest.StaticCPU} },
			decision: Resize, sizes: "app 800m/1600m 1Gi/2Gi"},
		{name: "a critical pod has to fit as a whole even if it shrinks", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated, priority(2_000_000_000)), node: roomFor("n4", "8", "512Mi"),
			decision: Skip, reason: contract.NodeCapacity, sizes: "app 1/0 1Gi/0"},
		{name: "and is resized where it does", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated, priority(2_000_001_000)), node: roomFor("n4", "8", "2Gi"),
			decision: Resize, sizes: "app 800m/0 1Gi/0"},
		{name: "other pods need no room to shrink", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated, priority(1_999_999_999)), node: roomFor("n4", "8", "512Mi"),
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
			done := patched(t, tc.pod, plan.Patch(Write{Step: StepResize}, ""))
			if got := podtest.SizesOf(done); got != tc.sizes {
				t.Errorf("%s, want %s", got, tc.sizes)
			}
			checkPatch(t, tc.pod, plan)
			if plan.Decision != Resize || tc.reason == "" {
				return
			}
			// What is left out is not recorded as applied, and is all that is left.
			done = carriedOut(t, tc.pod, plan, 40)
			if _, ok := done.Annotations[contract.AppliedInstanceType]; ok {
				t.Error("recorded as applied")
			}
			s.Pod = pod.From(done)
			if again := planner.Plan(s); again.Decision != Skip || again.Reasons[0].Code != tc.reason || again.Pending() {
				t.Errorf("done, and planned again: %v because of %v", again.Decision, again.Reasons)
			}
		})
	}
}

func pressed(n *corev1.Node) *corev1.Node {
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}}
	return n
}

func memoryLimitsShrinkByTheKubeletsVersion(t *testing.T) {
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
		t.Error("on a node that is only imagined, it does not shrink")
	}
}
