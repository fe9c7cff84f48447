package guard_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// settings apply to all tests. Their pods are resized at second 10.
var settings = policy.Guard{Enabled: true, Window: 5 * time.Minute, Restarts: 2, Unready: time.Minute, Cooldown: 10 * time.Minute, MaxUnproven: intstr.FromString("10%")}

// Short names for what nearly all tests need.
var resized, withSecond, restarts, readiness, memoryReverted = podtest.Lowered, podtest.WithLoweredSecond, podtest.Restarted, podtest.Readiness, podtest.MemoryReverted

// record replaces what the resize changed.
func record(text string) func(*corev1.Pod) { return podtest.Annotated("applied-sizes", text) }

// appliedLongAgo makes the recorded resize have proven itself before the last one.
func appliedLongAgo(p *corev1.Pod) {
	podtest.Annotated("applied-at", "2026-11-20T23:50:00Z")(p)
}

// probed gives the container a liveness probe.
func probed(p *corev1.Pod) { p.Spec.Containers[0].LivenessProbe = &corev1.Probe{} }

// killed makes the container have been killed for lack of memory.
func killed(seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.NewTime(podtest.At(seconds))}
	}
}

// has makes the node run the container with these requests and limits.
func has(cpu, memory string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		r := podtest.Amounts{cpu, cpu, memory, memory}.Requirements()
		p.Status.ContainerStatuses[0].Resources, p.Status.ContainerStatuses[0].AllocatedResources = &r, r.Requests
	}
}

// nodeReady returns a node that is ready or not since a time.
func nodeReady(status corev1.ConditionStatus, seconds int) *corev1.Node {
	n := podtest.Node("n4")
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(podtest.At(seconds))}}
	return n
}

func TestJudge(t *testing.T) {
	type harms map[string]contract.Harm
	everything := func(h contract.Harm) harms { return harms{"cpu": h, "memory": h} }
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		node *corev1.Node
		now  int
		want harms
		// again is when to judge again, in seconds.
		again int
	}{
		{name: "a pod that runs", pod: resized()},
		{name: "OOM kill after the resize", pod: resized(killed(40)), want: harms{"memory": contract.OOMKilled}},
		{name: "OOM kill in the current state", pod: resized(func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(podtest.At(40))}}
		}), want: harms{"memory": contract.OOMKilled}},
		{name: "OOM kill before the resize", pod: resized(killed(9))},
		{name: "OOM kill in the second of the resize, which may have been before it", pod: resized(killed(10))},
		{name: "OOM kill after the window", pod: resized(killed(40)), now: 310},
		{name: "OOM kill in the last second of the window", pod: resized(killed(40)), now: 309, want: harms{"memory": contract.OOMKilled}},
		{name: "OOM kill while only cpu was lowered", pod: resized(killed(40), record("app 3 cpu 1/1>500m/500m memory 512Mi/512Mi"))},
		{name: "OOM kill although memory was raised", pod: resized(killed(40), record("app 3 cpu 1/1>500m/500m memory 256Mi/256Mi>512Mi/512Mi"))},
		{name: "OOM kill and restarts do not blame cpu", pod: resized(restarts(9, 137), killed(40)), want: harms{"memory": contract.OOMKilled}},
		{name: "OOM kill and unreadiness do not blame cpu", pod: resized(killed(40), readiness(false, 40)), now: 200, want: harms{"memory": contract.OOMKilled}},

		{name: "restarts 3 → 5", pod: resized(restarts(5, 1)), want: everything(contract.Restarts)},
		{name: "restarts 5 → 6", pod: resized(record("app 5 cpu 1/1>500m/500m"), restarts(6, 1))},
		{name: "restarts 3 → 5 without a failure, as by its author", pod: resized(restarts(5, 0))},
		{name: "restarts 3 → 5 without a failure, as after a failed liveness probe", pod: resized(restarts(5, 0), probed), want: everything(contract.Restarts)},
		{name: "restarts 3 → 4 without a failure, as after a failed liveness probe", pod: resized(restarts(4, 0), probed)},
		{name: "restarts 3 → 5 after a resize that was not recorded", pod: resized(record("app 3 cpu 2/2>1/1 memory 1Gi/1Gi"), restarts(5, 1)), want: everything(contract.Restarts)},
		{name: "restarts between a resize of long ago and one that was not recorded", pod: resized(record("app 3 cpu 2/2>1/1 memory 1Gi/1Gi"), appliedLongAgo, restarts(5, 1))},
		{name: "restarts after a resize that was not recorded do not blame what was lowered long ago", pod: resized(record("app 3 cpu 1/1>500m/500m memory 1Gi/1Gi"), appliedLongAgo, readiness(false, 30)), now: 90,
			want: harms{"memory": contract.NotReady}},
		{name: "restarts of which nobody knows how many were before", pod: resized(restarts(9, 1), func(p *corev1.Pod) { delete(p.Annotations, contract.AppliedSizes) })},
		{name: "restarts on a node that became ready in the second of the resize", pod: resized(restarts(5, 1)), node: nodeReady(corev1.ConditionTrue, 10), want: everything(contract.Restarts)},
		{name: "restarts on a node that was lost meanwhile", pod: resized(restarts(5, 1)), node: nodeReady(corev1.ConditionTrue, 15)},
		{name: "restarts on a node that is lost", pod: resized(restarts(5, 1)), node: nodeReady(corev1.ConditionUnknown, 15)},
		{name: "restarts on an unknown node", pod: resized(restarts(5, 1)), node: &corev1.Node{}},

		{name: "not ready for a long time", pod: resized(readiness(false, 30)), now: 90, want: everything(contract.NotReady)},
		{name: "not ready for a short time", pod: resized(readiness(false, 30)), now: 89, again: 90},
		{name: "not ready since before the resize, as a slow start", pod: resized(readiness(false, 8)), now: 200},
		{name: "not ready since the second of the resize, which may have been before it", pod: resized(readiness(false, 10)), now: 200},
		{name: "not ready since its author restarted it", pod: resized(restarts(4, 0), readiness(false, 30)), now: 200},
		{name: "not ready while it waits to be restarted by its author", pod: resized(readiness(false, 30), func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(podtest.At(30))}}
		}), now: 200},
		{name: "not ready since it failed", pod: resized(restarts(4, 1), readiness(false, 30)), now: 200, want: everything(contract.NotReady)},
		{name: "not ready while it waits to be restarted after a failure", pod: resized(readiness(false, 30), func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(podtest.At(30))}}
		}), now: 200, want: everything(contract.NotReady)},
		{name: "not ready because of a readiness gate", pod: resized(readiness(false, 30), func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Ready = true }), now: 200},
		{name: "not ready on a node that is lost", pod: resized(readiness(false, 30)), node: nodeReady(corev1.ConditionFalse, 30), now: 200},
		{name: "not ready on a node that has just returned", pod: resized(readiness(false, 30)), node: nodeReady(corev1.ConditionTrue, 190), now: 200, again: 250},

		{name: "a resize that raised everything", pod: resized(record("app 3 cpu 250m/250m>500m/500m memory 256Mi/256Mi>512Mi/512Mi"), restarts(9, 1), readiness(false, 30)), now: 200},
		{name: "a lower limit alone", pod: resized(restarts(5, 1), record("app 3 cpu 500m/1>500m/500m memory 512Mi/512Mi")), want: harms{"cpu": contract.Restarts}},
		{name: "the first resize, not recorded yet, compared with the originals", pod: resized(killed(40), func(p *corev1.Pod) { delete(p.Annotations, contract.AppliedSizes) }), want: harms{"memory": contract.OOMKilled}},
		{name: "memory that another actor set", pod: resized(killed(40), func(p *corev1.Pod) {
			p.ManagedFields[1] = podtest.ResizeBy(contract.FieldManager, 10, contract.CPURequest, contract.CPULimit)
			p.ManagedFields = append(p.ManagedFields, podtest.ResizeBy("kubectl", 30, contract.MemoryRequest, contract.MemoryLimit))
		})},
		{name: "a pod that was never resized", pod: podtest.Pod(podtest.Guaranteed, podtest.AsCreated, restarts(9, 1), killed(40))},
		{name: "a size that was reverted", pod: resized(killed(40), record("app 3 cpu 500m/500m memory 512Mi/512Mi>256Mi/256Mi"), podtest.Annotated("reverted",
			`[{"at":"2026-11-21T00:00:20Z","container":"app","resource":"memory","hurt":"256Mi/256Mi","back":"512Mi/512Mi","times":1,"harm":"OOMKilled","message":""}]`),
			podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Reverts)))},
		{name: "a size that was reverted in the second in which a resize was recorded, without its sizes", pod: resized(killed(40), func(p *corev1.Pod) { delete(p.Annotations, contract.AppliedSizes) }, podtest.Annotated("applied-at", podtest.At(20).Format(time.RFC3339), "reverted",
			`[{"at":"2026-11-21T00:00:20Z","container":"app","resource":"memory","hurt":"256Mi/256Mi","back":"512Mi/512Mi","times":1,"harm":"OOMKilled","message":""}]`),
			podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Reverts)))},
		{name: "a container that no resize changed, although the record says so", pod: resized(withSecond, func(p *corev1.Pod) {
			second := p.Status.ContainerStatuses[0]
			second.Name, second.RestartCount, second.LastTerminationState.Terminated = "second", 9, &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", FinishedAt: metav1.NewTime(podtest.At(40))}
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, second)
		}, record("app 3 cpu 500m/500m memory 512Mi/512Mi; second 3 cpu 1/1>500m/500m memory 1Gi/1Gi>512Mi/512Mi"))},
		{name: "a size that a later resize lowered memory to, and that a revert set before", pod: resized(killed(40), record("app 3 cpu 500m/500m memory 1Gi/1Gi>512Mi/512Mi"), podtest.Annotated("applied-at", podtest.At(11).Format(time.RFC3339), "reverted",
			`[{"at":"2026-11-20T00:00:20Z","container":"app","resource":"memory","hurt":"256Mi/256Mi","back":"512Mi/512Mi","times":1,"harm":"OOMKilled","message":""}]`),
			podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Reverts))), want: harms{"memory": contract.OOMKilled}},
		{name: "a size that a resize lowered memory to without a record, and that a revert set before", pod: resized(killed(40), record("app 3 cpu 500m/500m memory 1Gi/1Gi"), podtest.Annotated("applied-at", podtest.At(5).Format(time.RFC3339), "reverted",
			`[{"at":"2026-11-20T00:00:20Z","container":"app","resource":"memory","hurt":"256Mi/256Mi","back":"512Mi/512Mi","times":1,"harm":"OOMKilled","message":""}]`),
			podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Reverts))), want: harms{"memory": contract.OOMKilled}},
		{name: "OOM kill with the memory before a resize that the node has deferred", pod: resized(killed(40), has("1", "1Gi"))},
		{name: "OOM kill with the lowered memory while cpu is deferred", pod: resized(killed(40), has("1", "512Mi")), want: harms{"memory": contract.OOMKilled}},
		{name: "restarts by OOM kills before memory was reverted do not blame cpu", pod: resized(restarts(6, 137), killed(40), memoryReverted)},
		{name: "restarts by OOM kills, of which the last was before memory was reverted completely, do not blame cpu", pod: resized(restarts(6, 137), killed(60), memoryReverted)},
		{name: "not ready since an OOM kill in the second in which memory was reverted", pod: resized(restarts(4, 137), killed(60), memoryReverted, readiness(false, 61)), now: 200},
		{name: "not ready long after an OOM kill before an ordinary resize", pod: resized(killed(9), readiness(false, 30)), now: 200, want: everything(contract.NotReady)},
		{name: "restarts for other reasons after memory was reverted", pod: resized(restarts(5, 1), memoryReverted), want: harms{"cpu": contract.Restarts}},
		{name: "restarts for other reasons after memory was reverted, after a resize of only some sizes, which records no time", pod: resized(restarts(5, 1), memoryReverted, appliedLongAgo), want: harms{"cpu": contract.Restarts}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.node == nil {
				tc.node = nodeReady(corev1.ConditionTrue, 0)
			}
			if tc.now == 0 {
				tc.now = 100
			}
			found, again := guard.Judge(&guard.Case{Pod: pod.From(tc.pod), Node: tc.node, Settings: &settings, Now: podtest.At(tc.now)})
			got := harms{}
			for _, h := range found {
				got[h.Measure.Name] = h.Kind
				if h.Message == "" {
					t.Error("there is no evidence")
				}
			}
			if len(got) != len(tc.want) || got["cpu"] != tc.want["cpu"] || got["memory"] != tc.want["memory"] {
				t.Errorf("got %v, want %v", found, tc.want)
			}
			var want time.Time
			if tc.again != 0 {
				want = podtest.At(tc.again)
			}
			if !again.Equal(want) {
				t.Errorf("it is judged again at %v, want %v", again, want)
			}
		})
	}
	t.Run("nothing while the guard is disabled", func(t *testing.T) {
		off := settings
		off.Enabled = false
		if found, _ := guard.Judge(&guard.Case{Pod: pod.From(resized(killed(40))), Node: nodeReady(corev1.ConditionTrue, 0), Settings: &off, Now: podtest.At(100)}); len(found) > 0 {
			t.Errorf("got %v", found)
		}
	})
}

// A revert undoes what a resize lowered, and nothing that it raised.
func TestBack(t *testing.T) {
	for _, tc := range []struct{ name, record, cpu string }{
		{"both lowered", "app 0 cpu 1/2>500m/1", "1/2"},
		{"the limit lowered, the request raised", "app 0 cpu 250m/2>500m/1", "500m/2"},
		{"the limit raised, the request lowered", "app 0 cpu 1/1>500m/1500m", "1/1500m"},
		{"no limit", "app 0 cpu 1>500m", "1"},
		{"a limit that the resize added", "app 0 cpu 1>500m/600m", "1/1"},
	} {
		recorded := pod.ParseAppliedSizes(tc.record)[0]
		change := guard.Change{From: recorded.From.CPU, To: recorded.To.CPU}
		back := (&pod.ContainerSizes{From: recorded.From, To: recorded.To}).To
		back.CPU = change.Back()
		if got := (pod.AppliedSizes{{Name: "app", From: back, To: back}}).String(); got != "app 0 cpu "+tc.cpu || !change.Lowers() {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.cpu)
		}
	}
}

// A revert is no change, even if the record of what was applied is newer.
func TestChanges(t *testing.T) {
	for applied, want := range map[int][]string{11: {"cpu"}, 70: {"cpu"}} {
		of := resized(memoryReverted, podtest.Annotated("applied-at", podtest.At(applied).Format(time.RFC3339)), podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 71, contract.AppliedAt)))
		var got []string
		for _, change := range guard.Changes(pod.From(of), settings.Window) {
			got = append(got, change.Measure.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("applied at %d: got %q, want %q", applied, got, want)
		}
	}
}

// A node that has not made a resize yet still counts the size before, which must not count twice.
func TestKeeps(t *testing.T) {
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want node.Resources
	}{
		{"both lowered", resized(), node.Resources{CPU: 500, Memory: 512 << 20}},
		{"cpu raised", resized(record("app 3 cpu 250m/250m>500m/500m memory 1Gi/1Gi>512Mi/512Mi")), node.Resources{Memory: 512 << 20}},
		{"the node has made the resize", resized(has("500m", "512Mi")), node.Resources{CPU: 500, Memory: 512 << 20}},
		{"the node has deferred the resize", resized(has("1", "1Gi")), node.Resources{}},
		{"the node has a size in between, of an earlier resize", resized(has("800m", "768Mi")), node.Resources{CPU: 200, Memory: 256 << 20}},
		{"the node has allocated less, and the container still has more", resized(has("500m", "512Mi"), func(p *corev1.Pod) {
			r := podtest.Amounts{"1", "1", "1Gi", "1Gi"}.Requirements()
			p.Status.ContainerStatuses[0].Resources = &r
		}), node.Resources{}},
	} {
		if got := guard.Keeps(pod.From(tc.pod), 5*time.Minute, podtest.At(20)); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
