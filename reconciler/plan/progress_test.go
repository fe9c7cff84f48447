package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestProgress(t *testing.T) {
	t.Run("expires the kubelet's conditions", expiresTheKubeletsConditions)
	t.Run("chooses the next step from the kubelet's conditions", choosesTheNextStepFromTheKubeletsConditions)
	t.Run("reports a resize as actuated when the containers run with it", reportsAResizeAsActuatedWhenTheContainersRunWithIt)
	t.Run("reverts a pod only to sizes that it may have had", revertsAPodOnlyToSizesThatItMayHaveHad)
	t.Run("keeps the record of a restore until the node has lowered memory limits", keepsTheRecordOfARestoreUntilTheNodeHasLoweredMemoryLimits)
}

func expiresTheKubeletsConditions(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	pending, progress := corev1.PodResizePending, corev1.PodResizeInProgress
	for _, tc := range []struct {
		name     string
		says     func(*corev1.Pod)
		nodeType string
		at       time.Time
		decision Decision
		reason   contract.Reason
		again    time.Time
	}{
		{"waits five minutes for a resize in progress", podtest.Said(progress, "", 5, 20), "big", podtest.At(20).Add(patience - time.Second), Skip, contract.ResizeInProgress, podtest.At(20).Add(patience)},
		{"resizes after five minutes", podtest.Said(progress, "", 5, 20), "big", podtest.At(20).Add(patience), Resize, "", time.Time{}},
		{"does not treat an overdue resize as completed", podtest.Said(progress, "", 5, 20), "n4", podtest.At(20).Add(patience), Align, contract.ResizeInProgress, time.Time{}},
		{"ignores an earlier condition without a generation", podtest.Said(pending, "Infeasible", 0, 7), "n4", podtest.At(20), Align, contract.AlreadyAligned, podtest.At(10).Add(lookedAt)},
		{"counts a condition once the kubelet must have observed the resize", podtest.Said(pending, "Infeasible", 0, 7), "n4", podtest.At(10).Add(lookedAt), Resize, contract.ResizeInfeasible, time.Time{}},
		{"counts a condition within the clock skew immediately", podtest.Said(pending, "Infeasible", 0, 9), "n4", podtest.At(12), Resize, contract.ResizeInfeasible, time.Time{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(sized, tc.says, podtest.SizedForN4, podtest.AsResized, podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed))
			s := snapshotOf(t, p, podtest.Node(tc.nodeType))
			s.Now = tc.at
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			plan := planner.Plan(s)
			reason := contract.Reason("")
			if len(plan.Reasons) > 0 {
				reason = plan.Reasons[0].Code
			}
			if plan.Decision != tc.decision || reason != tc.reason || !plan.ReplanAt.Equal(tc.again) {
				t.Errorf("%v because of %v, again at %v; want %v because of %q, %v", plan.Decision, plan.Reasons, plan.ReplanAt, tc.decision, tc.reason, tc.again)
			}
			s.Restore = true
			if plan := planner.Plan(s); plan.Decision != Resize || plan.Containers[0].Desired != podtest.Guaranteed.Container() {
				t.Errorf("a restore does not wait: %v because of %v", plan.Decision, plan.Reasons)
			}
		})
	}
}

func choosesTheNextStepFromTheKubeletsConditions(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	pending, progress := corev1.PodResizePending, corev1.PodResizeInProgress
	for _, tc := range []struct {
		name     string
		says     []func(*corev1.Pod)
		nodeType string
		decision Decision
		reasons  []contract.Reason
	}{
		{"aligns without conditions", nil, "n4", Align, []contract.Reason{contract.AlreadyAligned}},
		{"reports a deferred resize", []func(*corev1.Pod){podtest.Said(pending, "Deferred", 5, 20)}, "n4", Align, []contract.Reason{contract.ResizeDeferred}},
		{"reports a resize in progress", []func(*corev1.Pod){podtest.Said(progress, "", 5, 20)}, "n4", Align, []contract.Reason{contract.ResizeInProgress}},
		{"reports the more urgent of two conditions", []func(*corev1.Pod){podtest.Said(progress, "", 5, 20), podtest.Said(pending, "Deferred", 5, 20)}, "n4", Align, []contract.Reason{contract.ResizeDeferred}},
		{"skips another resize while one is in progress", []func(*corev1.Pod){podtest.Said(progress, "", 5, 20)}, "big", Skip, []contract.Reason{contract.ResizeInProgress}},
		{"skips an increase while a resize is deferred", []func(*corev1.Pod){podtest.Said(pending, "Deferred", 5, 20)}, "slow", Skip, []contract.Reason{contract.ResizeDeferred}},
		{"allows a decrease while a resize is deferred", []func(*corev1.Pod){podtest.Said(pending, "Deferred", 5, 20)}, "big", Resize, nil},
		{"replaces an infeasible resize", []func(*corev1.Pod){podtest.Said(pending, "Infeasible", 5, 20)}, "big", Resize, nil},
		{"counts an earlier error once the kubelet has observed the spec", []func(*corev1.Pod){podtest.Said(progress, "Error", 4, 20), podtest.Seen(5)}, "n4", Align, []contract.Reason{contract.ResizeError}},
		{"counts an earlier deferral once the kubelet has observed the spec", []func(*corev1.Pod){podtest.Said(pending, "Deferred", 4, 20), podtest.Seen(5)}, "slow", Skip, []contract.Reason{contract.ResizeDeferred}},
		{"ignores a pending condition of an allocated size", []func(*corev1.Pod){podtest.Said(pending, "Infeasible", 5, 20), podtest.WithStatus(sized, sized)}, "n4", Align, []contract.Reason{contract.AlreadyAligned}},
		{"ignores a condition of an earlier generation", []func(*corev1.Pod){podtest.Said(progress, "", 4, 20)}, "big", Resize, nil},
		{"ignores a condition without a generation before our resize", []func(*corev1.Pod){podtest.Said(progress, "", 0, 7)}, "big", Resize, nil},
		{"counts a condition without a generation after our resize", []func(*corev1.Pod){podtest.Said(progress, "", 0, 10)}, "big", Skip, []contract.Reason{contract.ResizeInProgress}},
		{"reports an infeasible resize without a status", []func(*corev1.Pod){podtest.Said(pending, "Infeasible", 5, 20)}, "n4", Align, []contract.Reason{contract.ResizeInfeasible}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(sized, append(tc.says, podtest.SizedForN4, podtest.AsResized)...)
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			plan := planner.Plan(snapshotOf(t, p, podtest.Node(tc.nodeType)))
			if plan.Decision != tc.decision || !cmp.Equal(codes(plan), tc.reasons) {
				t.Errorf("%v because of %v, want %v because of %v", plan.Decision, plan.Reasons, tc.decision, tc.reasons)
			}
		})
	}
}

func reportsAResizeAsActuatedWhenTheContainersRunWithIt(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want bool
	}{
		{"with the spec", podtest.Pod(sized, podtest.WithStatus(sized, sized), podtest.Seen(5)), true},
		{"with the spec, on a kubelet without generations", podtest.Pod(sized, podtest.WithStatus(sized, sized)), true},
		{"not yet with the spec", podtest.Pod(sized, podtest.WithStatus(sized, podtest.Guaranteed), podtest.Seen(5)), false},
		{"before the kubelet has observed the spec", podtest.Pod(sized, podtest.WithStatus(sized, sized), podtest.Seen(4)), false},
		{"while a condition remains", podtest.Pod(sized, podtest.WithStatus(sized, sized), podtest.Said(corev1.PodResizeInProgress, "", 5, 1)), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := pod.From(tc.pod).Actuated(); got != tc.want {
				t.Errorf("actuated: %v, want %v", got, tc.want)
			}
		})
	}
}

func revertsAPodOnlyToSizesThatItMayHaveHad(t *testing.T) {
	for _, tc := range []struct {
		name      string
		allocated podtest.Amounts
		want      bool
	}{
		{"the originals", podtest.Guaranteed, true},
		{"a different size within bounds", podtest.Amounts{"1500m", "1500m", "1Gi", "1Gi"}, true},
		{"more cpu than bounds allow", podtest.Amounts{"64", "64", "1Gi", "1Gi"}, false},
		{"less cpu than bounds allow", podtest.Amounts{"1m", "1m", "1Gi", "1Gi"}, false},
		{"more memory than bounds allow", podtest.Amounts{"800m", "800m", "1000Gi", "1000Gi"}, false},
		{"more memory than bounds allow, with acceptable cpu", podtest.Amounts{"1", "1", "1000Gi", "1000Gi"}, true},
		{"a limit far above its request", podtest.Amounts{"1", "64", "1Gi", "1Gi"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.WithStatus(tc.allocated, tc.allocated), podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20), podtest.SizedForN4, podtest.AsResized)
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			plan := planner.Plan(snapshotOf(t, p, podtest.Node("n4")))
			if got := plan.Kind == RevertRefused; got != tc.want {
				t.Errorf("reverted: %v, to %v; want %v", got, plan.Containers[0].Desired, tc.want)
			}
			if memory := plan.Containers[0].Desired.Memory.Request; memory != 1<<30 {
				t.Errorf("reverted to %d bytes of memory", memory)
			}
			if !tc.want && (plan.Decision != Align || plan.Reasons[0].Code != contract.ResizeInfeasible) {
				t.Errorf("%v because of %v", plan.Decision, plan.Reasons)
			}
		})
	}
}

func keepsTheRecordOfARestoreUntilTheNodeHasLoweredMemoryLimits(t *testing.T) {
	sized := podtest.Amounts{"1", "1", "2Gi", "2Gi"}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	restoring := func(p *corev1.Pod) *Plan {
		s := snapshotOf(t, p, podtest.Node("n4"))
		s.Restore = true
		return planner.Plan(s)
	}
	p := podtest.Pod(sized, podtest.WithStatus(sized, sized), podtest.SizedForN4, podtest.AsResized)
	plan := restoring(p)
	if plan.Decision != Resize || !keepsRecord(plan) || plan.Reasons[0].Code != contract.ResizeInProgress {
		t.Fatalf("%v because of %v", plan.Decision, plan.Reasons)
	}
	p = carriedOut(t, p, plan, 30)
	for _, tc := range []struct {
		name   string
		has    podtest.Amounts
		says   func(*corev1.Pod)
		reason contract.Reason
		done   bool
	}{
		{"not done yet", sized, func(*corev1.Pod) {}, contract.ResizeInProgress, false},
		{"failed by the kubelet", sized, podtest.Said(corev1.PodResizeInProgress, "Error", 5, 20), contract.ResizeError, false},
		{"done", podtest.Guaranteed, func(*corev1.Pod) {}, contract.Restored, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now := p.DeepCopy()
			podtest.WithStatus(tc.has, tc.has)(now)
			tc.says(now)
			plan := restoring(now)
			if plan.Decision != Align || plan.Reasons[0].Code != tc.reason || plan.Pending() != tc.done || keepsRecord(plan) == tc.done {
				t.Errorf("%v because of %v, pending: %v", plan.Decision, plan.Reasons, plan.Pending())
			}
		})
	}
}

func TestInfeasible(t *testing.T) {
	t.Run("learns from one pod for all pods of its node", learnsFromOnePodForAllPodsOfItsNode)
	t.Run("records a refusal that cannot be reverted", recordsARefusalThatCannotBeReverted)
	t.Run("asks a node again although a revert waits for longer", asksANodeAgainAlthoughARevertWaitsForLonger)
}

func learnsFromOnePodForAllPodsOfItsNode(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	refused := podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20)
	refusedPod := podtest.Pod(sized, podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed), refused, podtest.SizedForN4, podtest.AsResized)
	refusedPod.Status.Conditions[0].Message = podtest.StaticCPU
	s := snapshotOf(t, refusedPod, podtest.Booted("v1.36.3", "boot-1"))
	s.Now = podtest.Start.Add(time.Minute)
	plan := planner.Plan(s)
	if plan.Kind != RevertRefused || noted(plan) != "2026-11-21T00:01:00Z v1.36.3/boot-1 "+podtest.StaticCPU {
		t.Fatalf("%v because of %v, and records %q", plan.Decision, plan.Reasons, noted(plan))
	}
	// After a stop between the two writes, the first one is not repeated.
	recorded := refusedPod.DeepCopy()
	podtest.Annotated("infeasible", noted(plan))(recorded)
	podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible))(recorded)
	s.Pod, s.Now = pod.From(recorded), podtest.Start.Add(2*time.Minute)
	if again := planner.Plan(s); again.Kind != RevertRefused || noted(again) != "" {
		t.Errorf("stopped and planned again: %v, and records %q", again.Decision, noted(again))
	}
	// Another pod of the node, in another process.
	other := snapshotOf(t, podtest.Pod(podtest.Guaranteed, podtest.AsCreated), s.Around.Node)
	other.Now = podtest.Start.Add(time.Hour)
	other.Around.Infeasible, other.InfeasibleUntil = []string{podtest.StaticCPU}, podtest.Start.Add(InfeasibleFor)
	plan = planner.Plan(other)
	if plan.Decision != Skip || plan.Reasons[0].Code != contract.ResizeInfeasible || !plan.ReplanAt.Equal(other.InfeasibleUntil) {
		t.Errorf("%v because of %v, again at %v", plan.Decision, plan.Reasons, plan.ReplanAt)
	}
	// Once the answer no longer counts, the next record removes the annotation.
	recorded.Status.Conditions = nil
	delete(recorded.Annotations, contract.AppliedInstanceType)
	s.Pod = pod.From(recorded)
	s.Now = podtest.Start.Add(2 * InfeasibleFor)
	plan = planner.Plan(s)
	if value, removed := actionsAt(plan, s.Now)[0].Annotations[contract.Infeasible]; !removed || value != nil {
		t.Errorf("two days later: %v because of %v", plan.Decision, plan.Reasons)
	}
}

// The bounds have changed, and what the node has allocated is outside of them.
func recordsARefusalThatCannotBeReverted(t *testing.T) {
	has := podtest.Amounts{"1600m", "1600m", "1Gi", "1Gi"}
	p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.WithStatus(has, has), podtest.AsResized, podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20),
		podtest.Annotated("original-cpu.app", "2", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi", "applied-instance-type", "n4"))
	p.Status.Conditions[0].Message = podtest.StaticCPU
	planner := &Planner{OwnerKinds: DefaultOwnerKinds}
	s := snapshotOf(t, p, podtest.Booted("v1.36.3", "boot-1"))
	s.Table, s.Now = tableOf(t, 1.25, 1, &policy.Bounds{CPU: sizing.Range{Min: 50, Max: 1000}}), podtest.At(100)
	plan := planner.Plan(s)
	if plan.Decision != Align || plan.Reasons[0].Code != contract.ResizeInfeasible || !plan.Pending() {
		t.Fatalf("%v because of %v, pending %t", plan.Decision, plan.Reasons, plan.Pending())
	}
	if steps := stepsOf(actionsAt(plan, s.Now)); !slices.Equal(steps, []Step{StepInfeasible}) {
		t.Errorf("the plan writes %v", steps)
	}
	s.Pod = pod.From(carriedOut(t, p, plan, 100))
	if again := planner.Plan(s); again.Pending() {
		t.Errorf("the plan writes again: %v", stepsOf(actionsAt(again, s.Now)))
	}
}

func asksANodeAgainAlthoughARevertWaitsForLonger(t *testing.T) {
	until := podtest.At(500)
	p := contained(t, leaky(sized(podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}), memoryReverted("5")), 400, func(s *Snapshot) {
		s.Around.Node, s.Table = podtest.Node("n4"), tableOf(t, 4, 1.6, nil)
		s.Around.Infeasible, s.InfeasibleUntil = []string{podtest.StaticCPU}, until
	})
	if p.Decision != Skip || p.Reasons[0].Code != contract.ResizeInfeasible || !p.ReplanAt.Equal(until) {
		t.Errorf("%v because of %v, again at %v", p.Decision, p.Reasons, p.ReplanAt)
	}
}

func stepsOf(writes []Action) (all []Step) {
	for _, w := range writes {
		all = append(all, w.Step)
	}
	return all
}

func TestRefused(t *testing.T) {
	t.Run("keeps the QoS class in a revert", keepsTheQoSClassInARevert)
	t.Run("does not report a recorded answer as a resize", doesNotReportARecordedAnswerAsAResize)
	t.Run("records a different answer although an earlier one counts", recordsADifferentAnswerAlthoughAnEarlierOneCounts)
	t.Run("does not record a node type for a pod without its originals", doesNotRecordANodeTypeForAPodWithoutItsOriginals)
	t.Run("stands for sizes that are no smaller", standsForSizesThatAreNoSmaller)
}

func standsForSizesThatAreNoSmaller(t *testing.T) {
	for _, tc := range []struct {
		name     string
		reason   contract.Reason
		cpu      int64 // What was refused, compared with what the plan asks for.
		memory   int64
		decision Decision
	}{
		{"the same", contract.ResizeInfeasible, 0, 0, Skip},
		{"a byte less", contract.ResizeInfeasible, 0, 1, Skip},
		{"a byte more", contract.ResizeInfeasible, 0, -1, Skip},
		{"much more", contract.ResizeInfeasible, -500, 0, Skip},
		{"less", contract.ResizeInfeasible, 500, 0, Resize},
		{"more cpu, less memory", contract.ResizeInfeasible, -500, 1 << 29, Resize},
		{"a byte more than what failed", contract.ResizeError, 0, -1, Skip},
		{"more than what failed", contract.ResizeError, 0, -1 << 29, Resize},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshotOf(t, podtest.Pod(podtest.Guaranteed), podtest.Node("slow"))
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			first := planner.Plan(s)
			s.Refused = &Refusal{Reason: Reason{tc.reason, "no"}, Wanted: first.asksFor(s, desired)}
			size := &s.Refused.Wanted.sizes[0]
			size.CPU.Request += tc.cpu
			size.Memory.Request += tc.memory
			if again := planner.Plan(s); first.Decision != Resize || again.Decision != tc.decision {
				t.Errorf("%v, and then %v because of %v", first.Decision, again.Decision, again.Reasons)
			}
		})
	}
}

// Another actor swapped which resource has a limit above its request, and we overrode that. Of
// the sizes that the node still has, only memory can be reverted to.
func keepsTheQoSClassInARevert(t *testing.T) {
	has := podtest.Amounts{"1", "2", "1Gi", "1Gi"}
	p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "2Gi"}, podtest.WithStatus(has, has), podtest.AsResized, podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20),
		podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi", "applied-instance-type", "n2d"))
	s := snapshotOf(t, p, podtest.Node("n2d"))
	s.Now = podtest.At(100)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds, External: OverrideExternal}).Plan(s)
	if c := &plan.Containers[0]; plan.Kind == RevertRefused || c.Desired != c.Current {
		t.Errorf("%v becomes %v, which is %s", c.Current, c.Desired, sizing.QOSClass([]sizing.Container{c.Desired}))
	}
}

// refusedCPU is a pod with a cpu request of 1 whose node refuses any change to cpu, and whose
// size cannot be reverted because of a bound.
func refusedCPU(t *testing.T, options ...func(*corev1.Pod)) *Snapshot {
	has := podtest.Amounts{"1600m", "1600m", "1Gi", "1Gi"}
	p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, append([]func(*corev1.Pod){podtest.WithStatus(has, has), podtest.AsResized, podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20),
		podtest.Annotated("original-cpu.app", "2", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi", "applied-instance-type", "n4")}, options...)...)
	p.Status.Conditions[0].Message = podtest.StaticCPU
	s := snapshotOf(t, p, podtest.Booted("v1.36.3", "boot-1"))
	s.Table, s.Now = tableOf(t, 1.25, 1, &policy.Bounds{CPU: sizing.Range{Min: 50, Max: 1000}}), podtest.At(100)
	return s
}

func doesNotReportARecordedAnswerAsAResize(t *testing.T) {
	s := refusedCPU(t)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if steps := stepsOf(actionsAt(plan, s.Now)); len(steps) != 1 || steps[0] != StepInfeasible {
		t.Fatalf("the plan writes %v", steps)
	}
	outcome := plan.Outcome()
	if deed := plan.Deed(outcome); len(outcome) != 0 || deed != "Pod annotated" {
		t.Errorf("got %v, %q", outcome, deed)
	}
}

func recordsADifferentAnswerAlthoughAnEarlierOneCounts(t *testing.T) {
	const memory = `Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"`
	answered := func(message string) *Plan {
		return (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(refusedCPU(t, podtest.Annotated("infeasible", "2026-11-21T00:00:30Z v1.36.3/boot-1 "+message),
			podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible))))
	}
	if plan := answered(memory); noted(plan) == "" {
		t.Error("the answer about cpu is not recorded because there is one about memory")
	}
	if plan := answered(podtest.StaticCPU); noted(plan) != "" {
		t.Errorf("recorded again: %s", noted(plan))
	}
}

func doesNotRecordANodeTypeForAPodWithoutItsOriginals(t *testing.T) {
	has := podtest.Amounts{"1", "1", "1Gi", "1Gi"}
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.WithStatus(has, has), podtest.AsResized, podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20))
	p.Status.Conditions[0].Message = podtest.StaticCPU
	s := snapshotOf(t, p, podtest.Booted("v1.36.3", "boot-1"))
	s.Now = podtest.At(100)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if !slices.Contains(codes(plan), contract.InvalidAnnotation) {
		t.Fatal("the originals are known")
	}
	for _, w := range actionsAt(plan, s.Now) {
		if _, ok := w.Annotations[contract.AppliedInstanceType]; ok {
			t.Errorf("%s writes %s", w.Step, contract.AppliedInstanceType)
		}
	}
}
