package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Tests of rules that apply to a part of a pod, or only temporarily.

func TestParts(t *testing.T) {
	t.Run("names a sidecar whose original a restore lacks", namesASidecarWhoseOriginalARestoreLacks)
	t.Run("an emergency restore waits for no turn", anEmergencyRestoreWaitsForNoTurn)
	t.Run("does not delay a restore because of a node's answer", doesNotDelayARestoreBecauseOfANodesAnswer)
	t.Run("ignores a resize in progress since a future time", ignoresAResizeInProgressSinceAFutureTime)
	t.Run("records what a partial plan adopts", recordsWhatAPartialPlanAdopts)
	t.Run("vouches for a predecessor that found stamped originals", vouchesForAPredecessorThatFoundStampedOriginals)
	t.Run("does not write a correction forever", doesNotWriteACorrectionForever)
	t.Run("sizes a restored pod of many managers again", sizesARestoredPodOfManyManagersAgain)
	t.Run("applies a bound next to an adopted limit", appliesABoundNextToAnAdoptedLimit)
	t.Run("scales a limit next to an adopted request by the ratio", scalesALimitNextToAnAdoptedRequestByTheRatio)
	t.Run("accepts a published controller with our name", acceptsAPublishedControllerWithOurName)
	t.Run("restores a lost limit that equals its request", restoresALostLimitThatEqualsItsRequest)
	t.Run("keeps memory limits in a restore on an unknown node", keepsMemoryLimitsInARestoreOnAnUnknownNode)
	t.Run("accepts a published controller that stopped before its last write", acceptsAPublishedControllerThatStoppedBeforeItsLastWrite)
	t.Run("restores a published limit to its request", restoresAPublishedLimitToItsRequest)
	t.Run("paces pods that are not new", pacesPodsThatAreNotNew)
	t.Run("paces a pod that was partly resized", pacesAPodThatWasPartlyResized)
}

func namesASidecarWhoseOriginalARestoreLacks(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	p := podtest.Pod(podtest.Amounts{"800m", "", "", ""}, podtest.ManagedBy(podtest.AsMade, podtest.SidecarResize, podtest.Managed(contract.FieldManager, "", 6, contract.AppliedAt, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"cpu.proxy")),
		podtest.Annotated("original-cpu.app", "1", "applied-instance-type", "n4", "applied-at", "2026-11-21T01:02:03Z"))
	p.ManagedFields[1].FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + podtest.AmountFields("app", contract.CPURequest) + `},"f:initContainers":{` + podtest.AmountFields("proxy", contract.CPURequest) + `}}}`)
	p.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: &always, Resources: podtest.Amounts{"80m", "", "", ""}.Requirements()}}

	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Restore = true
	for _, sidecars := range []bool{true, false} {
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds, Sidecars: sidecars}).Plan(s)
		if !keepsRecord(plan) || !slices.Contains(codes(plan), contract.InvalidAnnotation) {
			t.Errorf("sidecars %v: %v %v, the record is kept: %v", sidecars, plan.Decision, plan.Reasons, keepsRecord(plan))
		}
	}
}

func anEmergencyRestoreWaitsForNoTurn(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.SizedForN4, podtest.AsResized)
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Restore = true
	usual := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	s.Emergency = true
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if !usual.Paced() || plan.Paced() || plan.Decision != Resize || !plan.Emergency {
		t.Errorf("%v, emergency %t, it waits for its turn: %t, and otherwise: %t", plan.Decision, plan.Emergency, plan.Paced(), usual.Paced())
	}
	if usual.Signature() == plan.Signature() {
		t.Error("it waits because the restore failed before it became an emergency")
	}
	for _, said := range []string{plan.Reasons[0].Message, plan.Outcome()[0].Message} {
		if !strings.Contains(said, "in an emergency restore") {
			t.Errorf("the pod is told %q", said)
		}
	}
	if said := usual.Outcome()[0].Message; !strings.HasPrefix(said, "the pod has its originals again: ") {
		t.Errorf("without an emergency, the pod is told %q", said)
	}
}

func doesNotDelayARestoreBecauseOfANodesAnswer(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi", "applied-instance-type", "n4"))
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Restore, s.Now = true, podtest.At(100)
	s.Around.Infeasible = []string{`Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`}
	s.InfeasibleUntil = podtest.At(86400)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if plan.Decision == Skip && plan.ReplanAt.IsZero() {
		t.Errorf("the restore is skipped because of %v, and never planned again", plan.Reasons)
	}
}

func ignoresAResizeInProgressSinceAFutureTime(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "", "", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1"))
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(podtest.At(86400))}}
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Now = podtest.At(3600)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if plan.Decision != Resize {
		t.Errorf("an hour after our resize: %v because of %v, again at %v", plan.Decision, plan.Reasons, plan.ReplanAt)
	}
}

func recordsWhatAPartialPlanAdopts(t *testing.T) {
	tables := func(cpu, memory float64) *ratios.Table {
		table, err := ratios.Merge([]*ratios.Layer{{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: cpu, MemoryPerf: memory}}}})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	for _, room := range []string{"64Gi", "2500Mi"} {
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second", Resources: podtest.Amounts{"1", "", "1Gi", ""}.Requirements()})
		}, asMadeWith)
		planner := &Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
		plan := func(cpu, memory float64, external External, restores bool, room string) *Plan {
			n := podtest.Node("n4")
			n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse(room)}
			s := snapshotOf(t, p, n)
			s.Table, s.Restore = tables(cpu, memory), restores
			planner.External = external
			return planner.Plan(s)
		}
		p = carriedOut(t, p, plan(1.25, 1, LeaveExternal, false, room), 10)
		after := p.DeepCopy()
		after.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("600m")
		after.ManagedFields = owning(p, after, "they", contract.ResizeSubresource, 20)
		p = after
		// Now memory must grow, for which there may be no room, and cpu must shrink.
		adopts := plan(1.5, 0.8, AdoptExternal, false, room)
		p = carriedOut(t, p, adopts, 30)
		// Now everything fits, and the ratio is different.
		next := plan(1, 1, AdoptExternal, false, "64Gi")
		if got := next.Containers[0].Desired.CPU.Request; got != 900 {
			t.Errorf("room %s: 600m adopted at 1.5 is %dm on the baseline, want 900m; %v", room, got, next.Reasons)
		}
		restored := plan(1.5, 0.8, LeaveExternal, true, "64Gi")
		if keepsRecord(restored) {
			t.Errorf("room %s: restore: %v", room, restored.Reasons)
		}
	}
}

func vouchesForAPredecessorThatFoundStampedOriginals(t *testing.T) {
	for name, stamped := range map[string]bool{"originals by the published controller": false, "stamped originals": true} {
		t.Run(name, func(t *testing.T) {
			keys := []string{contract.OriginalPrefix + "cpu.app", contract.OriginalPrefix + "memory.app"}
			creator, published := podtest.AsMade, podtest.Managed("published", "", 11, append(keys, contract.AppliedAt, contract.AppliedInstanceType)...)
			if stamped {
				published = podtest.Managed("published", "", 11, contract.AppliedAt, contract.AppliedInstanceType)
			}
			p := podtest.Pod(podtest.Amounts{"800m", "", "512Mi", ""}, podtest.ManagedBy(creator, podtest.ResizeBy("published", 10, contract.CPURequest, contract.MemoryRequest), published),
				podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi", "applied-instance-type", "big", "applied-at", "2026-11-21T01:02:03Z"))
			if stamped {
				p.ManagedFields[0] = podtest.Managed("kube-controller-manager", "", 0, append(keys, "restartPolicy")...)
			}

			p.OwnerReferences = podtest.Pod(podtest.Guaranteed).OwnerReferences
			planner := &Planner{OwnerKinds: DefaultOwnerKinds}
			plan := planner.Plan(snapshotOf(t, p, podtest.Node("big"))) // cpu: 500m; memory: unchanged.
			p = carriedOut(t, p, plan, 20)
			next := planner.Plan(snapshotOf(t, p, podtest.Node("n2d")))
			if got := next.Containers[0].Desired.Memory.Request; got != podtest.GiB {
				t.Errorf("on the baseline: %v %v: %s", next.Decision, next.Reasons, next.Describe())
			}
			s := snapshotOf(t, p, podtest.Node("big"))
			s.Restore = true
			if restored := planner.Plan(s); keepsRecord(restored) {
				t.Errorf("restore: %v %v", restored.Decision, restored.Reasons)
			}
		})
	}
}

func doesNotWriteACorrectionForever(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"50m", "80m", "1Gi", ""}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(contract.FieldManager, 5, contract.CPULimit), podtest.ResizeBy("operator", 6, contract.MemoryRequest),
		podtest.Managed(contract.FieldManager, "", 6, contract.AppliedAt, contract.AppliedInstanceType), podtest.Managed("operator", "", 7, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"cpu-limit.app")),
		podtest.Annotated("original-cpu.app", "40m", "original-cpu-limit.app", "45m", "applied-instance-type", "n4"))
	planner := &Planner{OwnerKinds: DefaultOwnerKinds}
	for i := range 5 {
		plan := planner.Plan(snapshotOf(t, p, podtest.Node("n4")))
		if i == 4 && plan.Pending() {
			t.Errorf("planned for the fifth time: %v %v, writes %v", plan.Decision, plan.Reasons, actionsAt(plan, podtest.At(100)))
		}
		p = carriedOut(t, p, plan, 10+i)
	}
}

func sizesARestoredPodOfManyManagersAgain(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"800m", "", "", ""}, podtest.ManagedBy(podtest.Managed(podtest.AncientChanges, "", 3, "restartPolicy"), podtest.ResizeBy(contract.FieldManager, 5, contract.CPURequest), podtest.Managed(contract.FieldManager, "", 6, contract.AppliedAt, contract.OriginalPrefix+"cpu.app")),
		podtest.Annotated("original-cpu.app", "1", "applied-instance-type", "n4"))
	planner := &Planner{OwnerKinds: DefaultOwnerKinds}
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Restore = true
	plan := planner.Plan(s)
	p = carriedOut(t, p, plan, 10)
	if next := planner.Plan(snapshotOf(t, p, podtest.Node("n4"))); next.Decision != Resize {
		t.Errorf("resumed: %v %v", next.Decision, next.Reasons)
	}
}

func tableOf(t *testing.T, cpu, memory float64, bounds *policy.Bounds) *ratios.Table {
	t.Helper()
	layer := &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: cpu, MemoryPerf: memory}}}
	if bounds != nil {
		layer.Settings = keys.Some(policy.Settings{Bounds: *bounds})
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func appliesABoundNextToAnAdoptedLimit(t *testing.T) {
	for _, adopts := range []bool{false, true} {
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", "2Gi"}, asMadeWith)
		plan := func(external External, least int64) *Plan {
			s := snapshotOf(t, p, podtest.Node("n4"))
			s.Table = tableOf(t, 1, 1, &policy.Bounds{Memory: sizing.Range{Min: least, Max: 32 * podtest.GiB}})
			return (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(s)
		}
		p = carriedOut(t, p, plan(LeaveExternal, 2*podtest.GiB), 10)
		if adopts {
			after := p.DeepCopy()
			after.Spec.Containers[0].Resources.Limits["memory"] = resource.MustParse("4Gi")
			after.ManagedFields = owning(p, after, "they", contract.ResizeSubresource, 20)
			p = after
			p = carriedOut(t, p, plan(AdoptExternal, 2*podtest.GiB), 30)
		}
		next := plan(AdoptExternal, 64<<20)
		if got := next.Containers[0].Desired.Memory.Request; got != podtest.GiB {
			t.Errorf("adopted %v: without the bound, the plan gives %v: %v %v", adopts, next.Containers[0].Desired.Memory, next.Decision, next.Reasons)
		}
	}
}

func scalesALimitNextToAnAdoptedRequestByTheRatio(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "2", "1Gi", ""}, asMadeWith)
	plan := func(external External, perf float64) *Plan {
		s := snapshotOf(t, p, podtest.Node("n4"))
		s.Table = tableOf(t, perf, 1, &policy.Bounds{CPU: sizing.Range{Min: 50, Max: 16000}})
		return (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(s)
	}
	p = carriedOut(t, p, plan(LeaveExternal, 1.25), 10)
	after := p.DeepCopy()
	after.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("50m")
	after.ManagedFields = owning(p, after, "they", contract.ResizeSubresource, 20)
	p = after
	p = carriedOut(t, p, plan(AdoptExternal, 1.25), 30)
	before := podtest.SizesOf(p)
	p = carriedOut(t, p, plan(AdoptExternal, 2), 40)
	meanwhile := podtest.SizesOf(p)
	p = carriedOut(t, p, plan(AdoptExternal, 1.25), 50)
	if now := podtest.SizesOf(p); now != before {
		t.Errorf("at 1.25: %s, then at 2: %s, then at 1.25 again: %s", before, meanwhile, now)
	}
}

func acceptsAPublishedControllerWithOurName(t *testing.T) {
	for _, manager := range []string{"published", contract.FieldManager} {
		p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(manager, 10, contract.CPURequest, contract.CPULimit),
			podtest.Managed(manager, "", 11, contract.AppliedAt, contract.AppliedInstanceType, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app")),
			podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi", "applied-instance-type", "n4"))
		p.Status.QOSClass = corev1.PodQOSGuaranteed
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, podtest.Node("big")))
		if got := plan.Containers[0].Desired; got != (podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}).Container() {
			t.Errorf("manager %s: on big: %v %v: %s", manager, plan.Decision, plan.Reasons, plan.Describe())
		}
		s := snapshotOf(t, p, podtest.Node("n4"))
		s.Restore = true
		if plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s); keepsRecord(plan) {
			t.Errorf("manager %s: restore: %v %v", manager, plan.Decision, plan.Reasons)
		}
	}
}

func restoresALostLimitThatEqualsItsRequest(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(contract.FieldManager, 10, contract.CPURequest, contract.CPULimit),
		podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.AppliedInstanceType, contract.OriginalPrefix+"cpu.app")),
		podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi", "applied-instance-type", "n4"))
	p.Status.QOSClass = corev1.PodQOSGuaranteed
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Restore = true
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if got := plan.Containers[0].Desired; keepsRecord(plan) || got != podtest.Guaranteed.Container() {
		t.Errorf("restored to %v: %v", got, plan.Reasons)
	}
}

func keepsMemoryLimitsInARestoreOnAnUnknownNode(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "", "2Gi", "4Gi"}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(contract.FieldManager, 10, contract.MemoryRequest, contract.MemoryLimit),
		podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"memory.app", contract.OriginalPrefix+"memory-limit.app")),
		podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi", "applied-instance-type", "n4"))
	for _, n := range []*corev1.Node{{Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.33.13"}}}, nil} {
		s := snapshotOf(t, p, n)
		s.Restore = true
		if plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s); plan.Containers[0].Desired.Memory.Limit < 4*podtest.GiB {
			t.Errorf("node %v: memory limit to %d: %v", n, plan.Containers[0].Desired.Memory.Limit, plan.Reasons)
		}
	}
}

func acceptsAPublishedControllerThatStoppedBeforeItsLastWrite(t *testing.T) {
	for _, last := range []bool{true, false} {
		originals := []string{contract.OriginalPrefix + "cpu.app", contract.OriginalPrefix + "memory.app"}
		pairs := []string{"original-cpu.app", "1", "original-memory.app", "1Gi"}
		if last {
			originals = append(originals, contract.AppliedAt, contract.AppliedInstanceType)
			pairs = append(pairs, "applied-instance-type", "n4")
		}
		p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy("manager", 10, contract.CPURequest, contract.CPULimit), podtest.Managed("manager", "", 11, originals...)), podtest.Annotated(pairs...))
		for _, nodeType := range []string{"n4", "slow"} {
			plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, podtest.Node(nodeType)))
			if plan.Decision == Skip {
				t.Errorf("last write done: %v; on %s: %v %v", last, nodeType, plan.Decision, plan.Reasons)
			}
		}
		s := snapshotOf(t, p, podtest.Node("n4"))
		s.Restore = true
		if plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s); keepsRecord(plan) {
			t.Errorf("last write done: %v; restore: %v %v", last, plan.Decision, plan.Reasons)
		}
	}
}

func restoresAPublishedLimitToItsRequest(t *testing.T) {
	for name, which := range map[string][]contract.Original{
		"the memory request changed, too":        {contract.CPURequest, contract.MemoryRequest, contract.MemoryLimit},
		"memory as it was (a memPerf of 1 each)": {contract.CPURequest, contract.MemoryLimit},
	} {
		memory, factor := "256Mi", "256Mi"
		if len(which) == 3 {
			memory, factor = "128Mi", "256Mi"
		}
		p := podtest.Pod(podtest.Amounts{"400m", "", memory, memory}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy("manager", 10, which...),
			podtest.Managed("manager", "", 11, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app", contract.AppliedAt, contract.AppliedInstanceType)),
			podtest.Annotated("original-cpu.app", "500m", "original-memory.app", factor, "applied-instance-type", "n4"))
		s := snapshotOf(t, p, podtest.Node("n4"))
		s.Restore = true
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
		if got := plan.Containers[0].Desired; keepsRecord(plan) || got != (podtest.Amounts{"500m", "", "256Mi", "256Mi"}).Container() {
			t.Errorf("%s: restored to %v: %v", name, got, plan.Reasons)
		}
	}
}

func pacesPodsThatAreNotNew(t *testing.T) {
	sized := []func(*corev1.Pod){podtest.SizedForN4, podtest.AsResized}
	growing := podtest.WithSecond(podtest.Amounts{"100m", "100m", "64Mi", "64Mi"})
	started := func(after time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.StartTime = new(metav1.NewTime(podtest.At(0).Add(after))) }
	}
	// pulled makes the pod wait for its images for ten minutes after its node has accepted it.
	pulled := func(restarts int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			started(0)(p)
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "app", RestartCount: restarts, Resources: &p.Spec.Containers[0].Resources,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(podtest.At(600))}},
			}}
		}
	}
	for _, tc := range []struct {
		name     string
		app      podtest.Amounts
		changes  []func(*corev1.Pod)
		nodeType string
		after    time.Duration
		restore  bool
		paced    bool
		frees    node.Resources
	}{
		{name: "a pod created just now", app: podtest.Guaranteed, nodeType: "n4"},
		{name: "a pod that is almost not new", app: podtest.Guaranteed, nodeType: "n4", after: NewFor - time.Second},
		{name: "an older pod", app: podtest.Guaranteed, nodeType: "n4", after: NewFor, paced: true, frees: node.Resources{CPU: 200}},
		{name: "an older pod that started late", app: podtest.Guaranteed, changes: []func(*corev1.Pod){started(48 * time.Hour)}, nodeType: "n4", after: 48*time.Hour + NewFor - time.Second},
		{name: "a pod that started late and is not new", app: podtest.Guaranteed, changes: []func(*corev1.Pod){started(48 * time.Hour)}, nodeType: "n4", after: 48*time.Hour + NewFor, paced: true, frees: node.Resources{CPU: 200}},
		{name: "a pod on a node whose clock is ahead", app: podtest.Guaranteed, changes: []func(*corev1.Pod){started(time.Hour)}, nodeType: "n4", paced: true, frees: node.Resources{CPU: 200}},
		{name: "a pod that started before it was created", app: podtest.Guaranteed, changes: []func(*corev1.Pod){started(-time.Hour)}, nodeType: "n4"},
		{name: "a pod whose images were pulled for longer than it is new", app: podtest.Guaranteed, changes: []func(*corev1.Pod){pulled(0)}, nodeType: "n4", after: 10*time.Minute + NewFor - time.Second},
		{name: "a pod whose images were pulled for long and that is not new", app: podtest.Guaranteed, changes: []func(*corev1.Pod){pulled(0)}, nodeType: "n4", after: 10*time.Minute + NewFor, paced: true, frees: node.Resources{CPU: 200}},
		{name: "an older pod whose container has restarted", app: podtest.Guaranteed, changes: []func(*corev1.Pod){pulled(1)}, nodeType: "n4", after: 10 * time.Minute, paced: true, frees: node.Resources{CPU: 200}},
		{name: "an older pod that has its size", app: podtest.Guaranteed, nodeType: "n2d", after: NewFor},
		{name: "an older pod with two containers", app: podtest.Guaranteed, changes: []func(*corev1.Pod){growing}, nodeType: "n4", after: NewFor, paced: true, frees: node.Resources{CPU: 220}},
		{name: "a new pod that was sized", app: podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, changes: sized, nodeType: "big", paced: true, frees: node.Resources{CPU: 300, Memory: 512 << 20}},
		{name: "a restore", app: podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, changes: sized, nodeType: "n4", restore: true, paced: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(tc.app, tc.changes...)
			p.CreationTimestamp = metav1.NewTime(podtest.At(0))
			s := snapshotOf(t, p, podtest.Node(tc.nodeType))
			s.Now, s.Restore = podtest.At(0).Add(tc.after), tc.restore
			plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			if plan.Paced() != tc.paced || plan.Frees() != tc.frees {
				t.Errorf("paced: %v, frees %+v: %s", plan.Paced(), plan.Frees(), plan.Describe())
			}
		})
	}
}

func pacesAPodThatWasPartlyResized(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "", "512Mi", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi"))
	s := snapshotOf(t, p, roomFor("n4", "2", "800Mi"))
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	plan := planner.Plan(s)
	if said := plan.Outcome(); plan.Partial == "" || !strings.HasSuffix(said[0].Message, "; not yet resized: container app: memory") {
		t.Errorf("outcome %v of reasons %v", said, plan.Reasons)
	}
	s = snapshotOf(t, carriedOut(t, p, plan, 40), roomFor("big", "2", "800Mi"))
	if again := planner.Plan(s); again.Decision != Resize || !again.Paced() {
		t.Errorf("at another ratio: %v, paced %v", again.Decision, again.Paced())
	}
}
