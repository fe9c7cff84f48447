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
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestContain(t *testing.T) {
	t.Run("reverts only what a resize lowered and hurts", revertsOnlyWhatAResizeLoweredAndHurts)
	t.Run("keeps what was reverted until the desired size changes", keepsAfterARevertUntilTheDesiredSizeChanges)
	t.Run("counts restarts from a revert on", countsRestartsFromARevertOn)
	t.Run("pushes a limit of the pod that lags behind", pushesALimitOfThePodThatLagsBehind)
	t.Run("waits longer after each revert", waitsLongerAfterEachRevert)
	t.Run("continues a revert that was recorded but not made", continuesARevertThatWasRecordedButNotMade)
	t.Run("records why although the node has no room", recordsWhyAlthoughTheNodeHasNoRoom)
	t.Run("counts every revert of a resource", countsEveryRevertOfAResource)
	t.Run("reverts to the last size that proved itself", revertsToTheLastSizeThatProvedItself)
	t.Run("records a resize that was interrupted", recordsAResizeThatWasInterrupted)
	t.Run("does not revert to a size that the pod cannot have had", doesNotRevertToASizeThatThePodCannotHaveHad)
	t.Run("reverts what sources of usage show, and says what they do not show", revertsWhatSourcesOfUsageShow)
	t.Run("waits until it is clear whether a resize made the pod not ready", waitsUntilItIsClearWhetherAResizeMadeThePodNotReady)
	t.Run("counts a revert once", countsARevertOnce)
	t.Run("does nothing in a frozen cluster", doesNothingInAFrozenCluster)
	t.Run("does nothing on an imagined node", doesNothingOnAnImaginedNode)
	t.Run("removes no limit, whatever is recorded", removesNoLimit)
}

// A resize can neither add nor remove a limit, so no resize has lowered a size without one to a size with one.
func removesNoLimit(t *testing.T) {
	burstable := sized(podtest.Amounts{"500m", "1", "512Mi", "1Gi"})
	p := contained(t, calm(burstable, podtest.Annotated("original-cpu-limit.app", "2", "original-memory-limit.app", "2Gi"),
		podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/1Gi","back":"256Mi","times":1,"harm":"OOMKilled","message":"killed"}]`)), 60)
	if c := p.Containers[0]; c.Desired.Memory.Limit == 0 || c.Desired.Memory.Request < c.Current.Memory.Request {
		t.Errorf("%v becomes %v because of %v", c.Current, c.Desired, p.Reasons)
	}
}

// leaky is a pod on a node of type big, which halves cpu and memory. It was resized at second 10,
// and its memory killed it at second 40.
func leaky(changes ...func(*corev1.Pod)) *corev1.Pod {
	return podtest.Pod(podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}, append([]func(*corev1.Pod){
		podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi",
			"applied-instance-type", "big", "applied-at", podtest.At(11).Format(time.RFC3339), "applied-sizes", "app 3 cpu 1/1>500m/500m memory 1Gi/1Gi>512Mi/512Mi"),
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.AppliedSizes, contract.Reverts, contract.OriginalPrefix+"cpu.app")),
		func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "app", RestartCount: 4, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(podtest.At(40))}},
				Resources:            &p.Spec.Containers[0].Resources,
			}}
		},
	}, changes...)...)
}

// sized gives the container a size.
func sized(size podtest.Amounts) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources = size.Requirements() }
}

// memoryReverted is the record of a revert of memory from 512Mi at second 50.
func memoryReverted(times string) func(*corev1.Pod) {
	return podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/512Mi","back":"1Gi/1Gi","times":`+times+`,"harm":"OOMKilled","message":"killed"}]`)
}

func contained(t *testing.T, p *corev1.Pod, seconds int, changes ...func(*Snapshot)) *Plan {
	t.Helper()
	s := snapshotOf(t, p, podtest.Node("big"))
	s.Now = podtest.At(seconds)
	for _, change := range changes {
		change(s)
	}
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if plan.Decision == Resize && plan.classAfter(s.Pod) != plan.QOSClass {
		t.Errorf("the QoS class changes")
	}
	return plan
}

// After another resize, it would look as if the pod had not been ready before.
func waitsUntilItIsClearWhetherAResizeMadeThePodNotReady(t *testing.T) {
	since := func(status corev1.ConditionStatus, seconds int) *corev1.Pod {
		return calm(func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(podtest.At(seconds))}}
			p.Status.ContainerStatuses[0].Ready, p.Status.ContainerStatuses[0].RestartCount = status == corev1.ConditionTrue, 3
		})
	}
	changed := func(s *Snapshot) {
		s.Table = tableOf(t, 4, 2, nil)
		s.Around.Node = podtest.Node("n4")
		s.Around.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(podtest.At(0))}}
	}
	for _, tc := range []struct {
		name     string
		pod      *corev1.Pod
		now      int
		kind     Kind
		decision Decision
		reason   contract.Reason
	}{
		{"not ready for 40 seconds", since(corev1.ConditionFalse, 20), 60, Sizes, Skip, contract.AwaitingReadiness},
		{"not ready for more than a minute", since(corev1.ConditionFalse, 20), 81, Revert, Resize, contract.Reverted},
		{"not ready for 40 seconds, and observed for less than another 20", since(corev1.ConditionFalse, 260), 300, Sizes, Resize, ""},
		{"ready again", since(corev1.ConditionTrue, 50), 60, Sizes, Resize, ""},
		{"not ready before", since(corev1.ConditionFalse, 5), 60, Sizes, Resize, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := contained(t, tc.pod, tc.now, changed)
			if p.Kind != tc.kind || p.Decision != tc.decision || tc.reason != "" && p.Reasons[0].Code != tc.reason {
				t.Errorf("kind %v, decision %v, reasons %v", p.Kind, p.Decision, p.Reasons)
			}
			if tc.reason == contract.AwaitingReadiness && (!p.ReplanAt.Equal(podtest.At(80)) || p.differs() || p.Pending()) {
				t.Errorf("planned again at %v, pending %t", p.ReplanAt, p.Pending())
			}
		})
	}
	// The final effect of a changed ratio does not depend on readiness.
	if p := contained(t, since(corev1.ConditionFalse, 20), 60, changed, func(s *Snapshot) { s.InTheEnd = true }); p.Decision != Resize {
		t.Errorf("decision %v in the end, reasons %v", p.Decision, p.Reasons)
	}
	// A pod that is to keep its size is aligned.
	if p := contained(t, since(corev1.ConditionFalse, 20), 60); p.Decision == Skip {
		t.Errorf("skipped because of %v", p.Reasons)
	}
}

// A question about another node type is not about what the pod has been through.
func doesNothingOnAnImaginedNode(t *testing.T) {
	p := contained(t, leaky(), 60, func(s *Snapshot) { s.Imagine("n2d") })
	if got, want := p.Containers[0].Desired, (podtest.Amounts{"1", "1", "1Gi", "1Gi"}).Container(); p.Kind != Sizes || got != want {
		t.Errorf("kind %v, desired %v; want %v", p.Kind, got, want)
	}
}

// annotation returns what a plan writes to an annotation at second 60.
func annotation(p *Plan, key string) string {
	for _, w := range actionsAt(p, podtest.At(60)) {
		if value := w.Annotations[key]; value != nil {
			return *value
		}
	}
	return ""
}

func revertsOnlyWhatAResizeLoweredAndHurts(t *testing.T) {
	p := contained(t, leaky(), 60)
	if got, want := p.Containers[0].Desired, (podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}).Container(); p.Kind != Revert || p.Decision != Resize || got != want {
		t.Errorf("kind %v, decision %v, desired %v; want %v", p.Kind, p.Decision, got, want)
	}
	if got := stepsOf(actionsAt(p, podtest.At(60))); !slices.Equal(got, []Step{StepReverted, StepRevert}) {
		t.Errorf("the plan writes %v", got)
	}
	want := `[{"at":"2026-11-21T00:01:00Z","container":"app","resource":"memory","hurt":"512Mi/512Mi","back":"1Gi/1Gi","times":1,"harm":"OOMKilled","message":"killed for lack of memory 30s after the resize"}]`
	if got := annotation(p, contract.Reverts); got != want {
		t.Errorf("it records %s\nwant       %s", got, want)
	}
	said := p.Outcome()
	if len(said) != 1 || said[0].Code != contract.Reverted || said[0].Message != "container app: memory 512Mi/512Mi → 1Gi/1Gi as before the resize: killed for lack of memory 30s after the resize (OOMKilled)" {
		t.Errorf("it says %v", said)
	}
	if got := p.Harms(); !slices.Equal(got, []contract.Harm{contract.OOMKilled}) {
		t.Errorf("it counts %v", got)
	}
	if p.Paced() {
		t.Error("a revert waits for its turn")
	}
	// The rest of the plan can wait: here, a changed ratio of cpu.
	p = contained(t, leaky(), 60, func(s *Snapshot) { s.Table = tableOf(t, 4, 2, nil) }, func(s *Snapshot) { s.Around.Node = podtest.Node("n4") })
	if p.Containers[0].Desired.CPU != p.Containers[0].Current.CPU {
		t.Errorf("the revert also resizes cpu to %v", p.Containers[0].Desired.CPU)
	}
}

func revertsWhatSourcesOfUsageShow(t *testing.T) {
	calm := func(p *corev1.Pod) { p.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{} }
	signals := func(since guard.Strain) func(*Snapshot) {
		return func(s *Snapshot) {
			before := guard.Strain{Throttled: guard.Of(0), CPUPressure: guard.Of(0), MemoryPressure: guard.Of(0), Memory: guard.Of(0)}
			s.Signals.Of = func(string) guard.Fared { return guard.Fared{Before: before, Since: before.Max(&since)} }
		}
	}
	p := contained(t, leaky(calm), 60, signals(guard.Strain{Throttled: guard.Of(0.8)}))
	if got, want := p.Containers[0].Desired, (podtest.Amounts{"1", "1", "512Mi", "512Mi"}).Container(); p.Kind != Revert || got != want {
		t.Errorf("kind %v, desired %v; want %v", p.Kind, got, want)
	}
	if got := annotation(p, contract.Reverts); !strings.Contains(got, `"harm":"Throttled","message":"throttled in 80% of its CPU periods, 0% before the resize"`) {
		t.Errorf("it records %s", got)
	}
	for name, change := range map[string]func(*Snapshot){"": signals(guard.Strain{}), "nothing is measured": func(s *Snapshot) { s.Signals = guard.Signals{Unknown: "nothing is measured"} }} {
		p := contained(t, leaky(calm), 60, change)
		said := ""
		for _, r := range p.Reasons {
			if r.Code == contract.NotMeasured {
				said = r.Message
			}
		}
		if p.Decision != Align || p.Reasons[0].Code != contract.AlreadyAligned || (said == "") != (name == "") || !strings.Contains(said, name) {
			t.Errorf("%s: %v, %v", name, p.Decision, p.Reasons)
		}
		if late := contained(t, leaky(calm), 400, change); len(late.Reasons) > 1 {
			t.Errorf("%s: it says %v after the resize has proven itself", name, late.Reasons)
		}
	}
}

// Lack of memory restarted the container. That must not count against cpu later.
func countsRestartsFromARevertOn(t *testing.T) {
	if got, want := annotation(contained(t, leaky(), 60), contract.AppliedSizes), "app 4 cpu 1/1>500m/500m memory 1Gi/1Gi>512Mi/512Mi"; got != want {
		t.Errorf("it records %s, want %s", got, want)
	}
}

// A kubelet applies a resize to the cgroup of a pod only while the container runs.
func pushesALimitOfThePodThatLagsBehind(t *testing.T) {
	whole := func(memory string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse(memory)}}
		}
	}
	ended := func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled"}}
	}
	back := []func(*corev1.Pod){sized(podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}), memoryReverted("1")}
	for _, tc := range []struct {
		name    string
		changes []func(*corev1.Pod)
		kind    Kind
		want    string
	}{
		{"the pod has a lower limit", append(back, whole("512Mi")), Revert, "1Gi+1Mi"},
		{"the pod has its limit", append(back, whole("1Gi")), Sizes, "1Gi"},
		{"the limit of the pod is unknown", back, Sizes, "1Gi"},
		{"the container does not run", append(back, whole("512Mi"), ended), Sizes, "1Gi"},
		{"it was pushed", []func(*corev1.Pod){sized(podtest.Amounts{"500m", "500m", "1025Mi", "1025Mi"}), memoryReverted("1"), whole("1025Mi")}, Revert, "1Gi"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := contained(t, leaky(tc.changes...), 60)
			got := p.Containers[0].Desired
			want := int64(1 << 30)
			if tc.want == "1Gi+1Mi" {
				want += 1 << 20
			}
			if p.Kind != tc.kind || got.Memory.Request != want || got.Memory.Limit != want || got.CPU != p.Containers[0].Current.CPU {
				t.Errorf("kind %v, desired %v; want %v, memory %s", p.Kind, got, tc.kind, tc.want)
			}
			if annotation(p, contract.Reverts) != "" {
				t.Error("it counts as another revert")
			}
			if said := p.Outcome(); p.Kind == Revert && len(said) != 0 {
				t.Errorf("it reports another revert: %v", said)
			}
		})
	}
}

func keepsAfterARevertUntilTheDesiredSizeChanges(t *testing.T) {
	back := leaky(sized(podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}), memoryReverted("1"))
	for _, tc := range []struct {
		name    string
		memory  float64
		seconds int
		want    string
		says    string
	}{
		{"the same size", 2, 100000, "1Gi", "until its desired size changes"},
		{"a different size during the cooldown", 1.6, 649, "1Gi", "until 2026-11-21T00:10:50Z"},
		{"a different size after the cooldown", 1.6, 650, "640Mi", ""},
		{"no smaller size than before", 1, 60, "1Gi", ""},
		{"a larger size", 0.5, 60, "2Gi", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := contained(t, back, tc.seconds, func(s *Snapshot) { s.Around.Node, s.Table = podtest.Node("n4"), tableOf(t, 2, tc.memory, nil) })
			if got := sizing.MemoryText(p.Containers[0].Desired.Memory.Request); got != tc.want || p.Kind != Sizes {
				t.Errorf("kind %v, memory %s; want %s", p.Kind, got, tc.want)
			}
			held := slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.Code == contract.Reverted && strings.Contains(r.Message, tc.says) })
			if held != (tc.says != "") {
				t.Errorf("reasons: %v", p.Reasons)
			}
			if p.ReplanAt.IsZero() == (tc.seconds == 649) {
				t.Errorf("the pod is planned again at %v", p.ReplanAt)
			}
		})
	}
}

func waitsLongerAfterEachRevert(t *testing.T) {
	for times, minutes := range map[string]int{"1": 10, "2": 20, "5": 160, "6": 160, "1000000": 160, "0": 10, "-3": 10} {
		back := leaky(sized(podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}), memoryReverted(times))
		p := contained(t, back, 60, func(s *Snapshot) { s.Around.Node, s.Table = podtest.Node("n4"), tableOf(t, 2, 1.6, nil) })
		if want := podtest.At(50 + 60*minutes); !p.ReplanAt.Equal(want) {
			t.Errorf("after %s reverts it waits until %v, want %v", times, p.ReplanAt, want)
		}
	}
}

func continuesARevertThatWasRecordedButNotMade(t *testing.T) {
	// The window is over: only the record keeps the pod from staying as it is.
	counted := podtest.Annotated("applied-sizes", "app 4 cpu 1/1>500m/500m memory 1Gi/1Gi>512Mi/512Mi")
	p := contained(t, leaky(memoryReverted("1"), counted), 100000)
	if got := stepsOf(actionsAt(p, podtest.At(100000))); p.Kind != Revert || !slices.Equal(got, []Step{StepRevert}) || p.Containers[0].Desired.Memory.Request != 1<<30 {
		t.Errorf("kind %v, writes %v, desired %v", p.Kind, got, p.Containers[0].Desired)
	}
	// Meanwhile, the ratio was corrected. A size would wait for breakers, schedules and its turn.
	for name, memory := range map[string]float64{"the size before": 1, "a larger size": 0.5, "a size between both": 1.6} {
		p := contained(t, leaky(memoryReverted("1")), 100000, func(s *Snapshot) {
			s.Around.Node, s.Table, s.Degraded = podtest.Node("n4"), tableOf(t, 2, memory, nil), &Stop{Reason: "3 of the last 5"}
		})
		want := "container app: memory 512Mi/512Mi → 1Gi/1Gi as before the resize: killed (OOMKilled)"
		if p.Kind != Revert || p.Decision != Resize || p.Containers[0].Desired.Memory.Request != 1<<30 || p.Reasons[0].Message != want {
			t.Errorf("%s: kind %v, decision %v, desired %v because of %v", name, p.Kind, p.Decision, p.Containers[0].Desired, p.Reasons)
		}
	}
	if said := p.Outcome(); len(said) != 1 || said[0].Code != contract.Reverted {
		t.Errorf("it says %v", said)
	}
	// Restarts while the revert was blocked must not count against cpu, which the resize lowered, too.
	p = contained(t, leaky(memoryReverted("1"), counted, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount = 9 }), 100000)
	want := "app 9 cpu 1/1>500m/500m memory 1Gi/1Gi>512Mi/512Mi"
	if got := stepsOf(actionsAt(p, podtest.At(100000))); !slices.Equal(got, []Step{StepReverted, StepRevert}) || annotation(p, contract.AppliedSizes) != want {
		t.Errorf("writes %v, records %q", got, annotation(p, contract.AppliedSizes))
	}
}

func recordsWhyAlthoughTheNodeHasNoRoom(t *testing.T) {
	full := func(s *Snapshot) {
		s.Around.Node.Status.Allocatable = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi"), corev1.ResourceCPU: resource.MustParse("8")}
		s.Around.Neighbors = node.Resources{Memory: 3 << 29}
	}
	p := contained(t, leaky(), 60, full)
	if got := stepsOf(actionsAt(p, podtest.At(60))); !p.Pending() || !slices.Equal(got, []Step{StepReverted}) || p.differs() {
		t.Errorf("pending %v, the plan writes %v", p.Pending(), got)
	}
	if said := p.Outcome(); len(said) != 1 || said[0].Code != contract.RevertBlocked {
		t.Errorf("it says %v", said)
	}
	// Once a different size may be tried, one that fits is better than the size that hurts.
	for memory, want := range map[string]string{"700Mi": "640Mi", "600Mi": "512Mi"} {
		p := contained(t, leaky(memoryReverted("1")), 100000, func(s *Snapshot) {
			s.Around.Node, s.Table = roomFor("n4", "1", memory), tableOf(t, 2, 1.6, nil)
		})
		if got := p.Containers[0].Desired; got != (podtest.Amounts{"500m", "500m", want, want}).Container() || (p.Decision == Resize) != (want == "640Mi") {
			t.Errorf("with %s: decision %v, desired %v, reasons %v", memory, p.Decision, got, p.Reasons)
		}
	}
	p = contained(t, leaky(memoryReverted("1")), 100000, full)
	if p.Decision != Skip || p.Pending() || p.Reasons[0].Code != contract.RevertBlocked || !strings.Contains(p.Reasons[0].Message, "no room") ||
		!strings.HasSuffix(p.Reasons[0].Message, "; not reverted: container app: memory 512Mi/512Mi → 1Gi/1Gi as before the resize: killed (OOMKilled)") {
		t.Errorf("decision %v, pending %v, reasons %v", p.Decision, p.Pending(), p.Reasons)
	}
	if want := podtest.At(100060); !p.ReplanAt.Equal(want) {
		t.Errorf("it is planned again at %v, want %v", p.ReplanAt, want)
	}
}

func countsEveryRevertOfAResource(t *testing.T) {
	// After a cooldown, memory was lowered to 640Mi, which hurts too. An earlier revert of cpu stays.
	p := contained(t, leaky(sized(podtest.Amounts{"500m", "500m", "640Mi", "640Mi"}),
		podtest.Annotated("applied-sizes", "app 3 cpu 500m/500m memory 1Gi/1Gi>640Mi/640Mi", "reverted",
			`[{"at":"2026-11-20T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/512Mi","back":"1Gi/1Gi","times":2,"harm":"OOMKilled","message":"killed"},`+
				`{"at":"2026-11-20T00:00:50Z","container":"app","resource":"cpu","hurt":"300m/300m","back":"500m/500m","times":1,"harm":"NotReady","message":"slow"}]`)), 60)
	want := `[{"at":"2026-11-20T00:00:50Z","container":"app","resource":"cpu","hurt":"300m/300m","back":"500m/500m","times":1,"harm":"NotReady","message":"slow"},` +
		`{"at":"2026-11-21T00:01:00Z","container":"app","resource":"memory","hurt":"640Mi/640Mi","back":"1Gi/1Gi","times":3,"harm":"OOMKilled","message":"killed for lack of memory 30s after the resize"}]`
	if got := annotation(p, contract.Reverts); got != want {
		t.Errorf("it records %s\nwant       %s", got, want)
	}
}

// Memory was reverted before, and only cpu gets a different size now.
func countsARevertOnce(t *testing.T) {
	back := leaky(sized(podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}), memoryReverted("1"))
	p := contained(t, back, 100000, func(s *Snapshot) { s.Around.Node, s.Table = podtest.Node("n4"), tableOf(t, 4, 2, nil) })
	said := p.Outcome()
	if p.Kind != Sizes || p.Decision != Resize || len(said) == 0 || said[0].Code != contract.Resized || slices.ContainsFunc(said, func(r Reason) bool { return r.Code == contract.Reverted }) {
		t.Errorf("kind %v, decision %v, outcome %v", p.Kind, p.Decision, said)
	}
	if !slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.Code == contract.Reverted }) {
		t.Errorf("the plan does not say why memory stays: %v", p.Reasons)
	}
}

// calm is a leaky pod that was not killed.
func calm(changes ...func(*corev1.Pod)) *corev1.Pod {
	return leaky(append([]func(*corev1.Pod){func(p *corev1.Pod) { p.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{} }}, changes...)...)
}

func revertsToTheLastSizeThatProvedItself(t *testing.T) {
	other := func(s *Snapshot) { s.Around.Node, s.Table = podtest.Node("n4"), tableOf(t, 4, 2, nil) }
	for _, tc := range []struct {
		name    string
		seconds int
		want    string
	}{
		{"a second resize while the first is observed", 60, "app 3 cpu 1/1>250m/250m memory 1Gi/1Gi>512Mi/512Mi"},
		{"a second resize after the first has proven itself", 310, "app 4 cpu 500m/500m>250m/250m memory 512Mi/512Mi"},
	} {
		p := contained(t, calm(), tc.seconds, other)
		if got := annotation(p, contract.AppliedSizes); got != tc.want {
			t.Errorf("%s records %s, want %s", tc.name, got, tc.want)
		}
	}
	first := contained(t, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated), 60)
	if got, want := annotation(first, contract.AppliedSizes), "app 0 cpu 1>500m memory 1Gi>512Mi"; got != want {
		t.Errorf("the first resize records %s, want %s", got, want)
	}
	// The pod's template has a copy of that annotation: writing the same would not make us its owner.
	copied := contained(t, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated, podtest.Annotated("applied-sizes", "app 0 cpu 1>500m memory 1Gi>512Mi")), 60)
	if got, want := annotation(copied, contract.AppliedSizes), "app 00 cpu 1>500m memory 1Gi>512Mi"; got != want || pod.ParseAppliedSizes(got).String() != "app 0 cpu 1>500m memory 1Gi>512Mi" {
		t.Errorf("the first resize of a pod with a copied record records %s, want %s", got, want)
	}
	baseline := contained(t, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated), 60, func(s *Snapshot) { s.Around.Node = podtest.Node("n2d") })
	if got := annotation(baseline, contract.AppliedSizes); got != "" || !baseline.Pending() {
		t.Errorf("a pod that needs no resize records %q", got)
	}
}

func recordsAResizeThatWasInterrupted(t *testing.T) {
	// The process was killed between the resize and its record: the record is of an earlier one.
	interrupted := calm(podtest.Annotated("applied-at", podtest.At(5).Format(time.RFC3339), "applied-sizes", "app 3 cpu 1/1>600m/600m memory 1Gi/1Gi>768Mi/768Mi"))
	p := contained(t, interrupted, 60)
	if got, want := annotation(p, contract.AppliedSizes), "app 4 cpu 600m/600m>500m/500m memory 768Mi/768Mi>512Mi/512Mi"; p.Decision != Align || !p.Pending() || got != want {
		t.Errorf("decision %v, pending %v, record %s; want %s", p.Decision, p.Pending(), got, want)
	}
	// That pods are not guarded does not matter.
	unguarded := func(s *Snapshot) { s.Table = guardedBy(t, 2, policy.Guard{}, "guard.enabled") }
	if p, want := contained(t, interrupted, 60, unguarded), "app 4 cpu 600m/600m>500m/500m memory 768Mi/768Mi>512Mi/512Mi"; p.Decision != Align || !p.Pending() || annotation(p, contract.AppliedSizes) != want {
		t.Errorf("without a guard: decision %v, pending %v, record %s; want %s", p.Decision, p.Pending(), annotation(p, contract.AppliedSizes), want)
	}
	// It is guarded even before that.
	killed := leaky(podtest.Annotated("applied-at", podtest.At(5).Format(time.RFC3339), "applied-sizes", "app 3 cpu 1/1>600m/600m memory 1Gi/1Gi>768Mi/768Mi"))
	if p := contained(t, killed, 60); p.Kind != Revert || p.Containers[0].Desired.Memory.Request != 768<<20 {
		t.Errorf("kind %v, desired %v", p.Kind, p.Containers[0].Desired)
	}
	// A revert is not recorded there, either. A smaller size after it must not be reverted to the one that hurt.
	smaller := leaky(sized(podtest.Amounts{"500m", "500m", "256Mi", "256Mi"}), memoryReverted("1"), func(p *corev1.Pod) {
		p.ManagedFields[1] = podtest.ResizeOf(1010, "app")
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated.FinishedAt = metav1.NewTime(podtest.At(1040))
	})
	if p := contained(t, smaller, 1060); p.Kind != Revert || p.Containers[0].Desired.Memory.Request != 1<<30 {
		t.Errorf("kind %v, memory becomes %v after an earlier revert", p.Kind, p.Containers[0].Desired.Memory)
	}
	// After a revert, the pod differs from its record, which is no interruption.
	back := calm(sized(podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}), memoryReverted("1"), podtest.Annotated("applied-at", podtest.At(5).Format(time.RFC3339)))
	if p := contained(t, back, 60); p.Pending() {
		t.Errorf("a reverted pod is written again: %v", stepsOf(actionsAt(p, podtest.At(60))))
	}
}

func doesNotRevertToASizeThatThePodCannotHaveHad(t *testing.T) {
	tight := func(s *Snapshot) {
		s.Around.Node, s.Table = podtest.Node("n4"), tableOf(t, 2, 2, &policy.Bounds{Memory: sizing.Range{Max: 512 << 20}})
	}
	forged := leaky(podtest.Annotated("applied-sizes", "app 3 cpu 1/1>500m/500m memory 8Gi/8Gi>512Mi/512Mi"))
	if p := contained(t, forged, 60, tight); p.Containers[0].Desired.Memory.Request != 1<<30 {
		t.Errorf("memory becomes %v, want the original", p.Containers[0].Desired.Memory)
	}
}

func doesNothingInAFrozenCluster(t *testing.T) {
	p := contained(t, leaky(), 60, func(s *Snapshot) { s.Frozen = &Stop{Reason: "frozen"} })
	if p.Decision != Skip || p.Pending() || p.Reasons[0].Code != contract.Frozen {
		t.Errorf("decision %v, reasons %v", p.Decision, p.Reasons)
	}
}

// An implausible ratio does not prevent the revert, so there is nothing that vetoes it.
func TestRevertAtAnImplausibleRatioIsNotVetoed(t *testing.T) {
	s := snapshotOf(t, leaky(), podtest.Node("typo"))
	s.Now = podtest.At(60)
	p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if p.Kind != Revert || p.Decision != Resize || p.Vetoed || p.Objection() != (Reason{}) {
		t.Errorf("kind %v, %v, vetoed %v, objection %+v", p.Kind, p.Decision, p.Vetoed, p.Objection())
	}
}
