package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestContainDoesNoHarm(t *testing.T) {
	t.Run("waits after the node refused a revert", waitsAfterTheNodeRefusedARevert)
	t.Run("does not keep room from restores", doesNotKeepRoomFromRestores)
	t.Run("leaves a size that was adopted", leavesASizeThatWasAdopted)
	t.Run("lowers no memory limit that its node must not lower", lowersNoMemoryLimitThatItsNodeMustNotLower)
	t.Run("records that a refused resize was reverted", recordsThatARefusedResizeWasReverted)
	t.Run("takes back what keeps the node from reverting", takesBackWhatKeepsTheNodeFromReverting)
	t.Run("reverts although the ratio is gone", revertsAlthoughTheRatioIsGone)
	t.Run("reverts only the limit if the node has no room", revertsOnlyTheLimitIfTheNodeHasNoRoom)
	t.Run("stays with a size like a half revert", staysWithASizeLikeAHalfRevert)
	t.Run("ends each revert", endsEachRevert)
}

func TestLacks(t *testing.T) {
	one := podtest.Amounts{"1", "", "1Gi", ""}
	pending := func(reason string) func(*corev1.Pod) { return podtest.Said(corev1.PodResizePending, reason, 5, 0) }
	notSetAside := podtest.WithStatus(podtest.Amounts{"800m", "", "512Mi", ""}, podtest.Amounts{"800m", "", "512Mi", ""})
	for _, tc := range []struct {
		name, nodeType, cpu string
		pod                 *corev1.Pod
		want                contract.Reason
		memory              bool
	}{
		{"a node with room", "slow", "2", podtest.Pod(one), "", false},
		{"a full node", "slow", "1", podtest.Pod(one), contract.NodeCapacity, false},
		{"a full node on which the pod shrinks", "n4", "1", podtest.Pod(one), "", false},
		{"a resize that the kubelet defers", "n2d", "1", podtest.Pod(one, pending(corev1.PodReasonDeferred), notSetAside), contract.ResizeDeferred, true},
		{"a resize that the kubelet defers, and that needs no more", "n2d", "1", podtest.Pod(one, pending(corev1.PodReasonDeferred), podtest.WithStatus(one, podtest.Amounts{"1200m", "", "1Gi", ""})), "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := podtest.Node(tc.nodeType)
			n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(tc.cpu), corev1.ResourceMemory: resource.MustParse("8Gi")}
			of := pod.From(tc.pod)
			s := &Snapshot{Pod: of, Table: podtest.Table(t)}
			s.Around.Room = node.Room{Node: n}
			p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			lack, lacks := p.Lacks(of)
			if lack.Code != tc.want || (len(lack.Memory) > 0) != tc.memory || lacks != (tc.want != "") {
				t.Errorf("got %+v, %t, of a plan for %v", lack, lacks, p.Reasons)
			}
		})
	}
}

// Otherwise it would be reverted again and again, without end.
func waitsAfterTheNodeRefusedARevert(t *testing.T) {
	first := contained(t, leaky(memoryReverted("1")), 60)
	refused := func(waiting, retry bool) func(*Snapshot) {
		return func(s *Snapshot) {
			s.Refused = &Refusal{Reason: Reason{contract.ResizeInfeasible, "no such memory"}, Wanted: first.asksFor(s, desired), Waiting: waiting, Retry: retry}
		}
	}
	for _, waiting := range []bool{false, true} {
		p := contained(t, leaky(memoryReverted("1")), 60, refused(waiting, false))
		if p.Decision != Skip || p.Reasons[0].Code != contract.RevertBlocked || !strings.Contains(p.Reasons[0].Message, "no such memory") || p.ReplanAt.IsZero() {
			t.Errorf("waiting %t: decision %v, reasons %v, again at %v", waiting, p.Decision, p.Reasons, p.ReplanAt)
		}
	}
	if p := contained(t, leaky(memoryReverted("1")), 60, refused(false, true)); p.Decision != Resize || p.Kind != Revert {
		t.Errorf("decision %v because of %v, although it may be tried again", p.Decision, p.Reasons)
	}
	// What the node refused was not this size.
	p := contained(t, leaky(), 60, func(s *Snapshot) {
		s.Refused = &Refusal{Reason: Reason{contract.ResizeInfeasible, "too much"}, Wanted: &Asked{on: "more cpu"}, Waiting: true}
	})
	if p.Decision != Resize || p.Kind != Revert {
		t.Errorf("decision %v because of %v, although the node refused a different size", p.Decision, p.Reasons)
	}
}

func doesNotKeepRoomFromRestores(t *testing.T) {
	p := contained(t, calm(), 60, func(s *Snapshot) {
		s.Restore = true
		s.Around.Node.Status.Allocatable = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Gi"), corev1.ResourceCPU: resource.MustParse("8")}
		s.Around.Neighbors = node.Resources{Memory: 2 << 30}
		s.Around.Kept = func() (node.Resources, time.Time) { return node.Resources{Memory: 2 << 30}, time.Time{} }
	})
	if p.Decision != Resize || keepsRecord(p) {
		t.Errorf("decision %v because of %v", p.Decision, p.Reasons)
	}
}

// Somebody gives memory the size that was reverted, on purpose.
func leavesASizeThatWasAdopted(t *testing.T) {
	theirs := calm(memoryReverted("1"), func(p *corev1.Pod) {
		p.ManagedFields[1] = podtest.ResizeBy(contract.FieldManager, 10, contract.CPURequest, contract.CPULimit)
		p.ManagedFields = append(p.ManagedFields, podtest.ResizeBy("kubectl", 70, contract.MemoryRequest, contract.MemoryLimit))
	})
	s := snapshotOf(t, theirs, podtest.Node("big"))
	s.Now = podtest.At(400)
	p := (&Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}).Plan(s)
	if p.Kind == Revert || p.differs() {
		t.Errorf("kind %v, memory becomes %v although another actor set %v", p.Kind, p.Containers[0].Desired.Memory, p.Containers[0].Current.Memory)
	}
}

func lowersNoMemoryLimitThatItsNodeMustNotLower(t *testing.T) {
	// Memory was reverted from 512Mi to 1Gi, and has 2Gi meanwhile. Now a size below 1Gi is desired.
	burstable := calm(sized(podtest.Amounts{"500m", "1", "2Gi", "4Gi"}), podtest.Annotated("original-cpu-limit.app", "2", "original-memory-limit.app", "2Gi",
		"applied-sizes", "app 3 cpu 500m/1 memory 1Gi/2Gi>2Gi/4Gi",
		"reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/1Gi","back":"1Gi/2Gi","times":1,"harm":"OOMKilled","message":"killed"}]`),
		func(p *corev1.Pod) { p.Status.QOSClass = corev1.PodQOSBurstable })
	p := contained(t, burstable, 120, func(s *Snapshot) { s.Around.Node.Status.NodeInfo.KubeletVersion = "v1.33.4" })
	if got, want := p.Containers[0].Desired.Memory, (podtest.Amounts{"1", "1", "1Gi", "4Gi"}).Container().Memory; got != want {
		t.Errorf("memory becomes %v, want %v", got, want)
	}
}

func revertsAlthoughTheRatioIsGone(t *testing.T) {
	for _, nodeType := range []string{"unknown", "typo", ""} {
		p := contained(t, leaky(), 60, func(s *Snapshot) { s.Around.Node = podtest.Node(nodeType) })
		if got := p.Containers[0].Desired; p.Kind != Revert || p.Decision != Resize || got.Memory.Request != 1<<30 || got.CPU != p.Containers[0].Current.CPU {
			t.Errorf("%q: kind %v, decision %v, desired %v, reasons %v", nodeType, p.Kind, p.Decision, got, p.Reasons)
		}
		p = contained(t, calm(), 60, func(s *Snapshot) { s.Around.Node = podtest.Node(nodeType) })
		if p.Decision != Skip || p.Reasons[0].Code == contract.Reverted {
			t.Errorf("%q: decision %v, reasons %v of a pod without harm", nodeType, p.Decision, p.Reasons)
		}
	}
}

// The node refused to raise memory, so that it was reverted. It never had more.
func recordsThatARefusedResizeWasReverted(t *testing.T) {
	raised := calm(sized(podtest.Amounts{"500m", "500m", "2Gi", "2Gi"}), podtest.Annotated("applied-sizes", "app 3 cpu 1/1>500m/500m memory 1Gi/1Gi>2Gi/2Gi"),
		podtest.WithStatus(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.Amounts{"1", "1", "1Gi", "1Gi"}), podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20))
	doubled := func(s *Snapshot) { s.Around.Node, s.Table = podtest.Node("n4"), tableOf(t, 2, 0.5, nil) }
	p := contained(t, raised, 30, doubled)
	if p.Kind != RevertRefused {
		t.Fatalf("kind %v, reasons %v", p.Kind, p.Reasons)
	}
	record := annotation(p, contract.AppliedSizes)
	if want := "app 3 cpu 1/1 memory 1Gi/1Gi"; record != want {
		t.Errorf("it records %q, want %q", record, want)
	}
	back := raised.DeepCopy()
	sized(podtest.Amounts{"1", "1", "1Gi", "1Gi"})(back)
	back.Status.Conditions = nil
	podtest.Annotated("applied-sizes", "app 3 cpu 1/1>500m/500m memory 1Gi/1Gi>2Gi/2Gi")(back)
	if record != "" {
		podtest.Annotated("applied-sizes", record)(back)
	}
	back.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(podtest.At(40))}
	if p := contained(t, back, 60, doubled); p.Kind == Revert {
		t.Errorf("memory becomes %v: %v", p.Containers[0].Desired.Memory, p.Reasons)
	}
}

// A node makes all of a resize or nothing. Here, it has no room for more cpu.
func takesBackWhatKeepsTheNodeFromReverting(t *testing.T) {
	for name, changes := range map[string][]func(*corev1.Pod){
		"found now":       {podtest.Said(corev1.PodResizePending, "Deferred", 5, 20)},
		"recorded before": {podtest.Said(corev1.PodResizePending, "Deferred", 5, 20), memoryReverted("1")},
		"infeasible":      {podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20)},
	} {
		deferred := leaky(append(changes, sized(podtest.Amounts{"1", "1", "512Mi", "512Mi"}), podtest.Annotated("applied-sizes", "app 3 cpu 500m/500m>1/1 memory 1Gi/1Gi>512Mi/512Mi"), func(p *corev1.Pod) {
			r := podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}.Requirements()
			p.Status.ContainerStatuses[0].Resources, p.Status.ContainerStatuses[0].AllocatedResources = &r, r.Requests
		})...)
		p := contained(t, deferred, 60, func(s *Snapshot) { s.Around.Node, s.Table = podtest.Node("n4"), tableOf(t, 1, 2, nil) })
		if got, want := p.Containers[0].Desired, (podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}).Container(); p.Kind != Revert || got != want {
			t.Errorf("%s: kind %v, desired %v, want %v", name, p.Kind, got, want)
		}
		// The container never had more cpu, so it did not lose any.
		if got := annotation(p, contract.AppliedSizes); !strings.Contains(got, "cpu 500m/500m memory 1Gi/1Gi>512Mi/512Mi") {
			t.Errorf("%s: it records %q", name, got)
		}
	}
}

// burst is leaky with a limit above each request. Its limit of memory was lowered from 2Gi to 1Gi.
func burst(changes ...func(*corev1.Pod)) *corev1.Pod {
	return leaky(append([]func(*corev1.Pod){sized(podtest.Amounts{"500m", "1", "512Mi", "1Gi"}),
		podtest.Annotated("original-cpu-limit.app", "2", "original-memory-limit.app", "2Gi", "applied-sizes", "app 3 cpu 1/2>500m/1 memory 1Gi/2Gi>512Mi/1Gi"),
		func(p *corev1.Pod) { p.Status.QOSClass = corev1.PodQOSBurstable }}, changes...)...)
}

// burstReverted is the record of a revert of its memory.
func burstReverted(harm string) func(*corev1.Pod) {
	return podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/1Gi","back":"1Gi/2Gi","times":2,"harm":"`+harm+`","message":"killed"}]`)
}

// onSundays returns a table that resizes no pods on the day of the tests, a Saturday.
func onSundays(t *testing.T) *ratios.Table {
	t.Helper()
	days, err := schedule.ParseDays("Sun")
	if err != nil {
		t.Fatal(err)
	}
	sunday, err := schedule.New(days, 0, schedule.Midnight, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{{
		Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "big": {CPUPerf: 2, MemoryPerf: 2}}, Settings: keys.Some(policy.Settings{Guard: policy.Guard{Schedule: schedule.Schedule{sunday}}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// A container is killed at its limit, which needs no room on the node.
func revertsOnlyTheLimitIfTheNodeHasNoRoom(t *testing.T) {
	full := func(s *Snapshot) { s.Around.Node = roomFor("big", "8", "600Mi") }
	limitOf := func(memory string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
		}
	}
	// The kill came before the revert.
	back := func(memory string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			sized(podtest.Amounts{"500m", "1", "512Mi", memory})(p)
			p.ManagedFields[1] = podtest.ResizeOf(50, "app")
		}
	}
	cpuToo := podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/1Gi","back":"1Gi/2Gi","times":1,"harm":"OOMKilled","message":"killed"},`+
		`{"at":"2026-11-21T00:00:50Z","container":"app","resource":"cpu","hurt":"500m/1","back":"1/2","times":1,"harm":"CPUPressure","message":"slow"}]`)
	// A node makes all of a resize or nothing.
	deferred := burst(podtest.Said(corev1.PodResizePending, "Deferred", 5, 20), sized(podtest.Amounts{"1", "2", "512Mi", "1Gi"}),
		podtest.Annotated("applied-sizes", "app 3 cpu 500m/1>1/2 memory 1Gi/2Gi>512Mi/1Gi"), func(p *corev1.Pod) {
			r := podtest.Amounts{"500m", "1", "512Mi", "1Gi"}.Requirements()
			p.Status.ContainerStatuses[0].Resources, p.Status.ContainerStatuses[0].AllocatedResources = &r, r.Requests
		})
	for _, tc := range []struct {
		name     string
		pod      *corev1.Pod
		around   func(*Snapshot)
		kind     Kind
		decision Decision
		code     contract.Reason
		want     podtest.Amounts
	}{
		{"found now", burst(), full, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "512Mi", "2Gi"}},
		{"recorded before", burst(burstReverted("OOMKilled")), full, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "512Mi", "2Gi"}},
		{"the ratio is gone, too", burst(), func(s *Snapshot) { s.Around.Node = roomFor("unknown", "8", "600Mi") }, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "512Mi", "2Gi"}},
		{"there is room", burst(), func(*Snapshot) {}, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "1Gi", "2Gi"}},
		{"a larger limit does not help", burst(burstReverted("MemoryPressure")), full, Revert, Skip, contract.RevertBlocked, podtest.Amounts{"500m", "1", "512Mi", "1Gi"}},
		{"a larger limit is forbidden", burst(burstReverted("OOMKilled")), func(s *Snapshot) {
			full(s)
			s.Around.LimitRanges = []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
			}}}}}
		}, Revert, Skip, contract.RevertBlocked, podtest.Amounts{"500m", "1", "512Mi", "1Gi"}},
		{"the limit is back, and there is no room yet", burst(burstReverted("OOMKilled"), back("2Gi")), full, Sizes, Skip, contract.NodeCapacity, podtest.Amounts{"500m", "1", "512Mi", "2Gi"}},
		{"the limit is back, and there is room", burst(burstReverted("OOMKilled"), back("2Gi")), func(*Snapshot) {}, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "1Gi", "2Gi"}},
		{"the limit is back, but not that of the pod", burst(burstReverted("OOMKilled"), back("2Gi"), limitOf("1Gi")), full, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "512Mi", "2049Mi"}},
		{"the limit is back, there is room, and a breaker is open", burst(burstReverted("OOMKilled"), back("2Gi")), func(s *Snapshot) { s.Degraded = &Stop{Reason: "open"} }, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "1Gi", "2Gi"}},
		{"the limit is back, there is room, and the ratio is gone", burst(burstReverted("OOMKilled"), back("2Gi")), func(s *Snapshot) { s.Around.Node = podtest.Node("unknown") }, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "1Gi", "2Gi"}},
		{"the limit is back, and there is no room, and no ratio", burst(burstReverted("OOMKilled"), back("2Gi")), func(s *Snapshot) { s.Around.Node = roomFor("unknown", "8", "600Mi") }, Sizes, Skip, contract.UnknownNodeType, podtest.Amounts{"500m", "1", "512Mi", "2Gi"}},
		{"the limit is back, and others need the room", burst(burstReverted("OOMKilled"), back("2Gi")), func(s *Snapshot) {
			s.Around.Node = roomFor("big", "8", "1Gi")
			s.Around.Kept = func() (node.Resources, time.Time) { return node.Resources{Memory: 1 << 20}, time.Time{} }
		}, Sizes, Skip, contract.NodeCapacity, podtest.Amounts{"500m", "1", "512Mi", "2Gi"}},
		{"the limit is back, and cpu is not", burst(cpuToo, back("2Gi")), func(s *Snapshot) { s.Around.Node = roomFor("big", "600m", "8Gi") }, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "1Gi", "2Gi"}},
		{"the node has not made more cpu", deferred, func(s *Snapshot) {
			s.Around.Node, s.Table = roomFor("n4", "600m", "600Mi"), tableOf(t, 1, 2, nil)
		}, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "512Mi", "2Gi"}},
		{"it was pushed, and memory limits must not shrink", burst(burstReverted("OOMKilled"), back("2049Mi"), limitOf("2049Mi")), func(s *Snapshot) {
			full(s)
			s.Around.Node.Status.NodeInfo.KubeletVersion = "unknown"
		}, Sizes, Skip, contract.NodeCapacity, podtest.Amounts{"500m", "1", "512Mi", "2049Mi"}},
		{"it was pushed", burst(burstReverted("OOMKilled"), back("2049Mi"), limitOf("2049Mi")), full, Revert, Resize, contract.Reverted, podtest.Amounts{"500m", "1", "512Mi", "2Gi"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := contained(t, tc.pod, 60, tc.around)
			back, hurt := p.Containers[0].Desired.Memory, p.Containers[0].Current.Memory == podtest.Amounts{"1", "1", "512Mi", "1Gi"}.Container().Memory
			if got := p.Harms(); (len(got) == 1) != (hurt && back != p.Containers[0].Current.Memory) {
				t.Errorf("it counts %v", got)
			}
			if got := p.Containers[0].Desired; p.Kind != tc.kind || p.Decision != tc.decision || p.Reasons[0].Code != tc.code || got != tc.want.Container() {
				t.Errorf("kind %v, decision %v, desired %v, want %v; reasons %v", p.Kind, p.Decision, got, tc.want.Container(), p.Reasons)
			}
		})
	}
	// The request follows even if sizing has stopped.
	for name, stops := range map[string]func(*Snapshot){"breaker": func(s *Snapshot) { s.Degraded = &Stop{Reason: "3 of the last 5"} }, "schedule": func(s *Snapshot) { s.Table = onSundays(t) }} {
		if p := contained(t, burst(burstReverted("OOMKilled"), back("2Gi")), 60, stops); p.Decision != Resize || p.Containers[0].Desired.Memory.Request != 1<<30 {
			t.Errorf("%s: decision %v, desired %v; reasons %v", name, p.Decision, p.Containers[0].Desired, p.Reasons)
		}
	}
	// Of cpu, the pod as a whole did not get back what its container did. That is no news.
	lags := burst(back("2Gi"), func(p *corev1.Pod) {
		sized(podtest.Amounts{"1", "2", "512Mi", "2Gi"})(p)
		p.Status.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi")}}
	}, podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/1Gi","back":"1Gi/2Gi","times":1,"harm":"OOMKilled","message":"killed"},
		{"at":"2026-11-21T00:00:50Z","container":"app","resource":"cpu","hurt":"500m/1","back":"1/2","times":1,"harm":"Throttled","message":"throttled"}]`))
	pushes := contained(t, lags, 60, full)
	if got, want := pushes.Containers[0].Desired, (podtest.Amounts{"1", "2001m", "512Mi", "2Gi"}).Container(); pushes.Decision != Resize || got != want || len(pushes.Outcome()) != 0 {
		t.Errorf("decision %v, desired %v, want %v; it says %v", pushes.Decision, got, want, pushes.Outcome())
	}
	// The limit of one container does not wait for the room that another needs.
	two := burst(burstReverted("MemoryPressure"), podtest.WithSecond(podtest.Amounts{"500m", "1", "512Mi", "1Gi"}), podtest.Annotated(
		"original-cpu.second", "1", "original-cpu-limit.second", "2", "original-memory.second", "1Gi", "original-memory-limit.second", "2Gi",
		"applied-sizes", "app 3 cpu 1/2>500m/1 memory 1Gi/2Gi>512Mi/1Gi second 0 cpu 1/2>500m/1 memory 512Mi/2Gi>512Mi/1Gi"))
	two.ManagedFields[1] = podtest.ResizeOf(10, "app", "second")
	two.Status.ContainerStatuses = append(two.Status.ContainerStatuses, *two.Status.ContainerStatuses[0].DeepCopy())
	two.Status.ContainerStatuses[1].Name = "second"
	p := contained(t, two, 60, func(s *Snapshot) { s.Around.Node = roomFor("big", "8", "1100Mi") })
	if got := p.Containers; p.Kind != Revert || got[0].Desired != got[0].Current || got[1].Desired.Memory != (podtest.Amounts{"1", "1", "512Mi", "2Gi"}).Container().Memory {
		t.Errorf("kind %v, desired %v and %v; reasons %v", p.Kind, got[0].Desired, got[1].Desired, p.Reasons)
	}
	p = contained(t, burst(), 60, full)
	if got := stepsOf(actionsAt(p, podtest.At(60))); !slices.Equal(got, []Step{StepReverted, StepRevert}) {
		t.Errorf("the plan writes %v", got)
	}
	if got, want := annotation(p, contract.Reverts), `"hurt":"512Mi/1Gi","back":"1Gi/2Gi","times":1,"harm":"OOMKilled"`; !strings.Contains(got, want) {
		t.Errorf("it records %s without %s", got, want)
	}
	want := "container app: memory 512Mi/1Gi → 512Mi/2Gi, only the limit as before the resize (1Gi/2Gi): killed for lack of memory 30s after the resize (OOMKilled); the request stays: node node has no room"
	if said := p.Outcome(); len(said) != 1 || said[0].Code != contract.Reverted || !strings.HasPrefix(said[0].Message, want) {
		t.Errorf("it says %v", said)
	}
	// A resize that hurt counts once, and so does its revert. Without a record of a new resize, none is observed.
	p = contained(t, burst(burstReverted("OOMKilled"), back("2Gi")), 60)
	if got := stepsOf(actionsAt(p, podtest.At(60))); !slices.Equal(got, []Step{StepRevert}) {
		t.Errorf("the rest of the revert writes %v", got)
	}
	if said := p.Outcome(); len(said) != 1 || said[0].Code != contract.Resized || !strings.HasPrefix(said[0].Message, "container app: memory 512Mi/2Gi → 1Gi/2Gi as before the resize") {
		t.Errorf("the rest of the revert says %v", said)
	}
	// Only memory has room, so only memory is reported as reverted.
	p = contained(t, burst(cpuToo), 60, func(s *Snapshot) { s.Around.Node = roomFor("big", "600m", "8Gi") })
	if said := p.Outcome(); len(said) != 1 || said[0].Code != contract.Reverted || strings.Contains(said[0].Message, "cpu") || p.Containers[0].Desired.CPU.Request != 500 {
		t.Errorf("only memory is reverted to %v, and it says %v", p.Containers[0].Desired, said)
	}
}

// Otherwise, the pod would get two sizes in turn, without end.
func staysWithASizeLikeAHalfRevert(t *testing.T) {
	again := func(changes ...func(*corev1.Pod)) *corev1.Pod {
		return burst(append(changes, burstReverted("OOMKilled"), sized(podtest.Amounts{"500m", "1", "512Mi", "2Gi"}), func(p *corev1.Pod) { p.ManagedFields[1] = podtest.ResizeOf(2000, "app") })...)
	}
	for name, p := range map[string]*corev1.Pod{
		"never completed": again(),
		"tried again":     again(podtest.Annotated("applied-at", podtest.At(2001).Format(time.RFC3339), "applied-sizes", "app 3 cpu 500m/1 memory 1Gi/2Gi>512Mi/2Gi")),
	} {
		// The cooldown is over, and the node must not lower memory limits, so that this size is desired.
		if p := contained(t, p, 2060, func(s *Snapshot) { s.Around.Node.Status.NodeInfo.KubeletVersion = "v1.33.4" }); p.differs() {
			t.Errorf("%s: kind %v, memory becomes %v because of %v", name, p.Kind, p.Containers[0].Desired.Memory, p.Reasons)
		}
	}
}

// A process may stop between any two writes. Once there is room, the pod gets each size back in full, even while a
// breaker is open, and then keeps it. The revert counts once.
func endsEachRevert(t *testing.T) {
	limits := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		p, now, told, counts := burst(), 60, []string(nil), map[string]int{}
		step := func(around func(*Snapshot), stops bool) *Plan {
			plan := contained(t, p, now, around)
			c := &plan.Containers[0]
			told = append(told, fmt.Sprintf("%d: kind %v, %v, %v → %v: %v", now, plan.Kind, plan.Decision, c.Current, c.Desired, plan.Reasons))
			if plan.Kind == Revert && plan.Decision == Resize && c.Desired.Memory == (podtest.Amounts{"", "", "512Mi", "2Gi"}).Container().Memory {
				limits++
			}
			if !plan.Pending() {
				return plan
			}
			writes := actionsAt(plan, podtest.At(now))
			all := len(writes)
			if stops {
				writes = writes[:r.IntN(all+1)]
			}
			for _, w := range writes {
				subresource := ""
				if w.Step.Resizes() {
					subresource = contract.ResizeSubresource
				}
				after := patched(t, p, plan.Patch(w, plan.ResourceVersion))
				after.ManagedFields = owning(p, after, contract.FieldManager, subresource, now)
				p = after
			}
			has := &p.Spec.Containers[0].Resources
			p.Status.ContainerStatuses[0].Resources, p.Status.ContainerStatuses[0].AllocatedResources = has.DeepCopy(), has.Requests
			for _, r := range pod.From(p).Reverts() {
				if len(writes) == all && *r.Measure.Of(&c.Current) == r.Hurt && slices.Contains(plan.Harms(), r.Harm) {
					counts[fmt.Sprint(r.Measure.Name, r.Times)]++
				}
			}
			return plan
		}
		for range 10 {
			node := roomFor([]string{"big", "big", "unknown"}[r.IntN(3)], []string{"600m", "8"}[r.IntN(2)], []string{"600Mi", "8Gi"}[r.IntN(2)])
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(podtest.At(0))}}
			node.Status.NodeInfo.KubeletVersion = []string{"v1.35.0", "v1.35.0", "v1.33.4"}[r.IntN(3)]
			degraded := []*Stop{nil, {Reason: "open"}}[r.IntN(2)]
			for range 1 + r.IntN(3) {
				now += 3 + r.IntN(20)
				step(func(s *Snapshot) { s.Around.Node, s.Degraded = node, degraded }, r.IntN(5) == 0)
			}
			if now += r.IntN(300); r.IntN(3) == 0 {
				p = p.DeepCopy()
				status := &p.Status.ContainerStatuses[0]
				status.RestartCount += 2
				status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: []string{"OOMKilled", "Error"}[r.IntN(2)], ExitCode: 137, FinishedAt: metav1.NewTime(podtest.At(now))}
			}
		}
		changes, last := 0, (*Plan)(nil)
		for range 8 {
			now += 400
			if last = step(func(s *Snapshot) { s.Around.Node, s.Degraded = roomFor("big", "8", "8Gi"), &Stop{Reason: "open"} }, false); last.differs() {
				changes++
			}
		}
		for _, before := range pod.From(p).Reverts() {
			if has := *before.Measure.Of(&last.Containers[0].Current); has.Request < before.Back.Request || has.Limit < before.Back.Limit {
				t.Errorf("%s is %v, although %v was reverted to %v", before.Measure.Name, has, before.Hurt, before.Back)
			}
			for times := 1; times <= before.Times; times++ {
				if n := counts[fmt.Sprint(before.Measure.Name, times)]; n != 1 {
					t.Errorf("revert %d of %s counts %d times", times, before.Measure.Name, n)
				}
			}
		}
		if changes > 3 || last.differs() {
			t.Errorf("it is resized %d times, and again", changes)
		}
		if t.Failed() {
			t.Fatalf("with seed %d:\n%s", seed, strings.Join(told, "\n"))
		}
	}
	if limits == 0 {
		t.Error("no limit was reverted alone")
	}
}
