package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// shown is what usage shows of a pod: the same of each container that has a name.
type shown struct {
	needs   map[string]*need.Container
	uses    int64
	charged int64
	peak    int64
	resized need.Resized
	// shares are unknown if they are 0.
	shares [2]float64
	// asked is how often Of was called.
	asked int
}

func (s *shown) Of(container string) (needs *need.Container, now need.Memory) {
	s.asked++
	return s.needs[container], need.Memory{Used: s.uses, Charged: s.charged}
}
func (s *shown) Peak(string) int64           { return s.peak }
func (s *shown) Resized(string) need.Resized { return s.resized }

func (s *shown) Share(string) ([2]float64, bool) { return s.shares, s.shares != [2]float64{} }

const mib = 1 << 20

// rules are like those of containers whose memory limit is a multiple of the request.
func rules() *need.Rules {
	return &need.Rules{
		Updates: need.Updates{
			Band: 0.1, After: 12 * time.Hour, QuickKill: 10 * time.Minute, DecreaseCPU: 24 * time.Hour, DecreaseLimit: 72 * time.Hour,
			Separate: true, AnyKill: true, InUse: true,
		},
		Limits: need.Limits{Memory: need.Multiple, MemoryMultiple: 2},
	}
}

// showing returns that the container app needs 500m and 1000Mi.
func showing() *shown {
	r := rules()
	return &shown{needs: map[string]*need.Container{"app": {
		CPU:    need.Recommendation{Target: 500, Lower: 400, Upper: 600, Rules: r},
		Memory: need.Recommendation{Target: 1000 * mib, Lower: 800 * mib, Upper: 1200 * mib, Rules: r},
	}}}
}

func TestDemand(t *testing.T) {
	const hours = 3600
	planned := func(t *testing.T, size podtest.Amounts, nodeType string, change func(*Snapshot, *shown, *Planner), changes ...func(*corev1.Pod)) *Plan {
		t.Helper()
		s, d, planner := snapshotOf(t, podtest.Pod(size, append([]func(*corev1.Pod){podtest.AsCreated}, changes...)...), podtest.Node(nodeType)), showing(), &Planner{OwnerKinds: DefaultOwnerKinds}
		s.Now, s.Demand = podtest.At(100*hours), d
		if change != nil {
			change(s, d, planner)
		}
		plan := planner.Plan(s)
		if plan.classAfter(s.Pod) != plan.QOSClass {
			t.Errorf("the QoS class changes from %s", plan.QOSClass)
		}
		return plan
	}
	agoCPU := func(ago time.Duration) func(*Snapshot, *shown, *Planner) {
		return func(s *Snapshot, d *shown, _ *Planner) { d.resized[0] = s.Now.Add(-ago) }
	}
	resized := func(seconds int) func(*corev1.Pod) {
		return podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(seconds, "app"), podtest.Managed(contract.FieldManager, "", seconds, contract.AppliedAt, contract.OriginalPrefix+"cpu.app"))
	}
	written := podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi", "applied-instance-type", "n4", "applied-at", podtest.At(11).Format(time.RFC3339))
	unknown := func(_ *Snapshot, d *shown, _ *Planner) { d.needs["app"].CPU.Keeps = "too little is known" }
	memoryLater := func(_ *Snapshot, d *shown, _ *Planner) {
		d.needs["app"].Memory = need.Recommendation{Target: 1024 * mib, Lower: 1, Upper: 1 << 50, Rules: d.needs["app"].CPU.Rules}
	}
	outgrown := func(_ *Snapshot, d *shown, _ *Planner) {
		d.needs["app"].CPU = need.Recommendation{Target: 5000, Lower: 4000, Upper: 6000, Rules: d.needs["app"].CPU.Rules}
		d.needs["app"].CPU.Rules.MaxGrowth = 2
	}
	// The container needs 300m most of the time, and 900m at most.
	sharing := func(share float64) func(*Snapshot, *shown, *Planner) {
		return func(_ *Snapshot, d *shown, _ *Planner) {
			cpu := &d.needs["app"].CPU
			cpu.Steady, cpu.Rest, cpu.Lower, cpu.Upper, d.shares[sizing.CPU.Index] = 300, 600, 270, 900, share
		}
	}
	t.Run("has two parts, of which a node knows those of pods that it may size", func(t *testing.T) {
		part := []Part{{node.Resources{CPU: 240, Memory: 1000 * mib}, node.Resources{CPU: 720, Memory: 1000 * mib}, node.Resources{Memory: 7 * mib}}}
		takes := node.Resources{CPU: 1000, Memory: 1 << 30}
		for _, tc := range []struct {
			name   string
			change func(*Snapshot)
			want   []Part
			others node.Resources
		}{
			{"one that is sized", func(*Snapshot) {}, part, node.Resources{}},
			{"one that is frozen, as all are", func(s *Snapshot) { s.Frozen = &Stop{} }, part, node.Resources{}},
			{"one of which the share is not known yet", func(s *Snapshot) { s.Demand.(*shown).shares = [2]float64{} }, part, node.Resources{}},
			{"one that does not follow usage", func(s *Snapshot) { s.Demand = nil }, nil, takes},
			{"one that is paused", func(s *Snapshot) { s.Paused = &Stop{} }, nil, takes},
			{"one that is restored", func(s *Snapshot) { s.Restore = true }, nil, takes},
			{"one whose workload is degraded", func(s *Snapshot) { s.Degraded = &Stop{} }, nil, takes},
			{"one of which nothing is known", func(s *Snapshot) { s.Demand = need.Unknown{} }, []Part{{takes, takes, node.Resources{}}}, node.Resources{}},
		} {
			s, d := snapshotOf(t, podtest.Pod(podtest.Burstable, podtest.AsCreated), podtest.Node("n4")), showing()
			sharing(0.5)(s, d, nil)
			d.uses = 7 * mib
			s.Now, s.Demand = podtest.At(100*hours), d
			tc.change(s)
			if got, others := (&Planner{OwnerKinds: DefaultOwnerKinds}).Parts(s); !slices.Equal(got, tc.want) || others != tc.others {
				t.Errorf("%s: %v and %v, want %v and %v", tc.name, got, others, tc.want, tc.others)
			}
		}
	})
	t.Run("waits for a turn, unless a container may be about to be killed", func(t *testing.T) {
		for uses, paced := range map[int64]bool{1000 * mib: true, 1950 * mib: false} {
			plan := planned(t, podtest.Burstable, "n4", func(_ *Snapshot, d *shown, _ *Planner) { d.uses = uses }, resized(10*hours), written)
			if plan.Decision != Resize || plan.Paced() != paced {
				t.Errorf("%d MiB of 2Gi are in use: %v, paced: %v, %+v", uses/mib, plan.Decision, plan.Paced(), plan.Containers[0].Desired.Memory)
			}
		}
	})
	t.Run("is asked for once per plan: what is in use changes meanwhile", func(t *testing.T) {
		var shows *shown
		planned(t, podtest.Burstable, "n4", func(_ *Snapshot, d *shown, _ *Planner) { shows = d }, resized(10*hours), written)
		if shows.asked != 1 {
			t.Errorf("asked %d times about one container", shows.asked)
		}
	})
	for _, tc := range []struct {
		name    string
		size    podtest.Amounts
		node    string
		change  func(*Snapshot, *shown, *Planner)
		changes []func(*corev1.Pod)
		want    podtest.Amounts
		cpu     Cause
	}{
		{name: "is scaled for the node", size: podtest.Burstable, node: "n4", want: podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "that is near enough to the size changes nothing", size: podtest.Amounts{"430m", "860m", "1Gi", "2Gi"}, node: "n4", want: podtest.Amounts{"430m", "860m", "1Gi", "2Gi"}},
		{name: "outside of the bounds counts although the size is new", size: podtest.Amounts{"300m", "600m", "1Gi", "2Gi"}, node: "n4", change: agoCPU(0), want: podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "lowers nothing that was resized a short time ago", size: podtest.Burstable, node: "n4", change: agoCPU(23 * time.Hour), want: podtest.Burstable},
		{name: "waits after any resize of the pod if nothing else is known", size: podtest.Burstable, node: "n4", changes: []func(*corev1.Pod){written, resized(90 * hours)}, want: podtest.Burstable},
		{name: "does not wait after an earlier resize", size: podtest.Burstable, node: "n4", changes: []func(*corev1.Pod){written, resized(10 * hours)}, want: podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "counts in the end as if nothing were new", size: podtest.Burstable, node: "n4", change: func(s *Snapshot, d *shown, p *Planner) {
			agoCPU(0)(s, d, p)
			s.InTheEnd = true
		}, want: podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "is scaled for an imagined node, however near the size is", size: podtest.Amounts{"430m", "860m", "1Gi", "2Gi"}, node: "n2d", change: func(s *Snapshot, _ *shown, _ *Planner) { s.Imagine("n4") }, want: podtest.Amounts{"400m", "800m", "1000Mi", "2000Mi"}, cpu: ByDemand},
		{name: "does not matter for a restore", size: podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, node: "n4", change: func(s *Snapshot, _ *shown, _ *Planner) { s.Restore = true }, changes: []func(*corev1.Pod){written, resized(10)}, want: podtest.Burstable, cpu: ByRestore},
		{name: "raises a container that was killed", size: podtest.Amounts{"400m", "800m", "950Mi", "1900Mi"}, node: "n4", changes: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", RestartCount: 1, Resources: &p.Spec.Containers[0].Resources, LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(podtest.At(100*hours - 60))}}}}
		}}, want: podtest.Amounts{"400m", "800m", "1000Mi", "2000Mi"}},
		{name: "never lowers memory below what the replica used within a week", size: podtest.Amounts{"400m", "800m", "3Gi", "6Gi"}, node: "n4", change: func(_ *Snapshot, d *shown, _ *Planner) { d.peak = 2048 * mib }, want: podtest.Amounts{"400m", "800m", "2Gi", "4Gi"}},
		{name: "never lowers memory below what is in use", size: podtest.Amounts{"400m", "800m", "3Gi", "6Gi"}, node: "n4", change: func(_ *Snapshot, d *shown, _ *Planner) { d.uses = 2048 * mib }, want: podtest.Amounts{"400m", "800m", "2Gi", "4Gi"}},
		{name: "keeps a size while a decrease is not known to be safe", size: podtest.Burstable, node: "n4", change: unknown, changes: []func(*corev1.Pod){written, resized(10 * hours)}, want: podtest.Burstable},
		{name: "until then, scales what the author wrote if the pod was never sized", size: podtest.Burstable, node: "n4", change: unknown, want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "does so on a slow node, too", size: podtest.Burstable, node: "slow", change: unknown, want: podtest.Amounts{"1250m", "2500m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "of cpu does not lower the memory limit of a request that stays", size: podtest.Amounts{"1", "2", "1Gi", "4Gi"}, node: "n4", want: podtest.Amounts{"400m", "800m", "1Gi", "4Gi"}, cpu: ByDemand},
		{name: "never keeps a size beyond the bounds of the configuration", size: podtest.Burstable, node: "n4", change: func(s *Snapshot, d *shown, _ *Planner) {
			d.needs["app"].CPU.Keeps = "too little is known"
			s.Table = tableOf(t, 1.25, 1, &policy.Bounds{CPU: sizing.Range{Max: 700}})
		}, want: podtest.Amounts{"700m", "1400m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "leaves Guaranteed pods Guaranteed", size: podtest.Guaranteed, node: "n4", want: podtest.Amounts{"400m", "400m", "1Gi", "1Gi"}, cpu: ByDemand},
		{name: "does not add requests", size: podtest.Amounts{"1", "2", "", ""}, node: "n4", want: podtest.Amounts{"400m", "800m", "", ""}, cpu: ByDemand},
		{name: "of memory alone leaves cpu to the ratio", size: podtest.Burstable, node: "n4", change: func(_ *Snapshot, d *shown, _ *Planner) {
			memoryLater(nil, d, nil)
			d.needs["app"].Forget(sizing.CPU)
		}, want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cpu: ByRatio},
		{name: "does not size what a VerticalPodAutoscaler sizes", size: podtest.Burstable, node: "n4", change: func(s *Snapshot, _ *shown, _ *Planner) {
			s.VPA = &safety.VPA{Name: "vpa", Active: true, Policies: []safety.VPAPolicy{{Container: "*", Resources: []string{"cpu"}}}}
		}, want: podtest.Burstable, cpu: NotOurs},
		{name: "is never nothing: what is needed then is what the author wrote", size: podtest.Burstable, node: "n4", change: func(_ *Snapshot, d *shown, _ *Planner) { d.needs["app"].CPU.Target = 0 }, want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cpu: ByRatio},
		{name: "of other containers does not matter", size: podtest.Burstable, node: "n4", change: func(_ *Snapshot, d *shown, _ *Planner) {
			d.needs["other"], d.needs["app"] = d.needs["app"], nil
		}, want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cpu: ByRatio},
		{name: "does not replace a size that another actor set", size: podtest.Burstable, node: "n4", changes: []func(*corev1.Pod){written, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy("operator", 20, contract.CPURequest, contract.CPULimit))}, want: podtest.Burstable, cpu: NotOurs},
		{name: "is what overrides such a size", size: podtest.Burstable, node: "n4", change: func(_ *Snapshot, _ *shown, p *Planner) { p.External = OverrideExternal }, changes: []func(*corev1.Pod){written, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy("operator", 20, contract.CPURequest, contract.CPULimit), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app"))}, want: podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "does not count for a size that is adopted", size: podtest.Burstable, node: "n4", change: func(_ *Snapshot, _ *shown, p *Planner) { p.External = AdoptExternal }, changes: []func(*corev1.Pod){written, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy("operator", 20, contract.CPURequest, contract.CPULimit), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app"))}, want: podtest.Burstable},
		{name: "that is not known lets a pod keep the size that it was given", size: podtest.Amounts{"450m", "900m", "1Gi", "2Gi"}, node: "n4", change: func(s *Snapshot, _ *shown, _ *Planner) { s.Demand = need.Unknown{} }, changes: []func(*corev1.Pod){written, resized(10 * hours)}, want: podtest.Amounts{"450m", "900m", "1Gi", "2Gi"}},
		{name: "of memory alone that is not known lets it keep the size that it was given", size: podtest.Amounts{"450m", "900m", "512Mi", "1Gi"}, node: "n4", change: func(_ *Snapshot, d *shown, _ *Planner) {
			d.needs["app"].Memory = need.Recommendation{Unknown: true, Rules: d.needs["app"].CPU.Rules}
		}, changes: []func(*corev1.Pod){written, resized(10 * hours)}, want: podtest.Amounts{"400m", "800m", "512Mi", "1Gi"}, cpu: ByDemand},
		{name: "of memory alone that is not known leaves the first size of that to the ratio", size: podtest.Burstable, node: "n4", change: func(_ *Snapshot, d *shown, _ *Planner) {
			d.needs["app"].Memory = need.Recommendation{Unknown: true, Rules: d.needs["app"].CPU.Rules}
		}, want: podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "that is not known does not keep a pod from its first size", size: podtest.Burstable, node: "n4", change: func(s *Snapshot, _ *shown, _ *Planner) { s.Demand = need.Unknown{} }, want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cpu: ByRatio},
		{name: "that is shared has a part of the rest, and the limit of what is not shared", size: podtest.Burstable, node: "n4", change: sharing(0.5), want: podtest.Amounts{"480m", "960m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "that is shared has the same limit if there is nothing to spare", size: podtest.Burstable, node: "n4", change: sharing(0.01), want: podtest.Amounts{"245m", "800m", "1Gi", "2Gi"}, cpu: ByDemand},
		{name: "that is shared changes nothing until it is known what the neighbors need", size: podtest.Amounts{"450m", "900m", "1Gi", "2Gi"}, node: "n4", change: sharing(0), changes: []func(*corev1.Pod){written, resized(10 * hours)}, want: podtest.Amounts{"450m", "900m", "1Gi", "2Gi"}},
		{name: "that is shared does not keep a pod from its first size", size: podtest.Burstable, node: "n4", change: sharing(0), want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cpu: ByRatio},
		{name: "is not shared by a Guaranteed pod", size: podtest.Guaranteed, node: "n4", change: sharing(0.01), want: podtest.Amounts{"400m", "400m", "1Gi", "1Gi"}, cpu: ByDemand},
		{name: "grows up to a multiple of what the author wrote", size: podtest.Burstable, node: "n4", change: outgrown, want: podtest.Amounts{"1600m", "3200m", "1Gi", "2Gi"}, cpu: ByDemand},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := planned(t, tc.size, tc.node, tc.change, tc.changes...)
			c := plan.Containers[0]
			if c.Desired != tc.want.Container() || c.Causes[0] != tc.cpu {
				t.Errorf("%+v because of %v, want %+v because of %v: %v", c.Desired, c.Causes, tc.want.Container(), tc.cpu, plan.Reasons)
			}
			if last := slices.IndexFunc(plan.Derivation, func(d Derived) bool { return d.Cause == ByDemand }); (tc.cpu == ByDemand) && last < 0 {
				t.Errorf("no step of %+v is by demand", plan.Derivation)
			}
		})
	}
	for _, tc := range []struct {
		name, record, want string
	}{
		{"does not wait after a resize of another resource", "app 0 cpu 1/2@" + podtest.At(10*hours).Format(time.RFC3339) + " memory 512Mi/1Gi>1Gi/2Gi", "app 0 cpu 1/2>400m/800m memory 1Gi/2Gi@" + podtest.At(90*hours).Format(time.RFC3339)},
		{"waits if the resize is newer than the record", "app 0 cpu 900m/2@" + podtest.At(10*hours).Format(time.RFC3339) + " memory 512Mi/1Gi>1Gi/2Gi", ""},
		{"waits if the record has no times", "app 0 cpu 1/2 memory 512Mi/1Gi>1Gi/2Gi", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := planned(t, podtest.Burstable, "n4", nil, written, podtest.Annotated("applied-sizes", tc.record),
				podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(90*hours, "app"), podtest.Managed(contract.FieldManager, "", 90*hours+1, contract.AppliedAt, contract.AppliedSizes, contract.OriginalPrefix+"cpu.app")))
			got := ""
			for _, a := range plan.Actions() {
				if text := a.Annotations[contract.AppliedSizes]; plan.Decision == Resize && text != nil {
					got = *text
				}
			}
			if got != tc.want {
				t.Errorf("%v records %q, want %q: %+v", plan.Decision, got, tc.want, plan.Reasons)
			}
		})
	}
	t.Run("keeps the time of a resource when the size of the other is reverted, which the node refuses", func(t *testing.T) {
		since, before := "app 0 cpu 500m/1@"+podtest.At(10*hours).Format(time.RFC3339), podtest.Amounts{"500m", "1", "1Gi", "2Gi"}
		plan := planned(t, podtest.Amounts{"500m", "1", "2Gi", "4Gi"}, "n2d", func(_ *Snapshot, d *shown, _ *Planner) {
			memory := &d.needs["app"].Memory
			memory.Target, memory.Lower, memory.Upper = 2048*mib, 2000*mib, 3000*mib
		}, written, podtest.Annotated("applied-at", podtest.At(90*hours+1).Format(time.RFC3339), "applied-sizes", since+" memory 1Gi/2Gi>2Gi/4Gi"),
			podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(90*hours, "app"), podtest.Managed(contract.FieldManager, "", 90*hours+1, contract.AppliedAt, contract.AppliedSizes, contract.OriginalPrefix+"cpu.app")),
			podtest.WithStatus(before, before), podtest.Said(corev1.PodResizePending, "Infeasible", 5, 90*hours+1))
		if got, want := annotation(plan, contract.AppliedSizes), since+" memory 1Gi/2Gi"; plan.Kind != RevertRefused || got != want {
			t.Errorf("kind %v annotates %q, want %q: %+v", plan.Kind, got, want, plan.Reasons)
		}
	})
	t.Run("of one resource does not keep the other from scaling, if that was adopted", func(t *testing.T) {
		p := adopts(t, resizedBy(podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, asMadeWith), "they", podtest.Amounts{"2", "", "1Gi", ""}), "n2d")
		s, d := snapshotOf(t, p, podtest.Node("n4")), showing()
		d.needs["app"].Memory.Target = 2048 * mib
		s.Now, s.Demand = podtest.At(100*hours), d
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}).Plan(s)
		if c := plan.Containers[0]; c.Desired.CPU.Request != 1600 || c.Desired.Memory.Request != 2048*mib || c.Causes != [2]Cause{ByRatio, ByDemand} {
			t.Errorf("%+v because of %v: %v", c.Desired, c.Causes, plan.Reasons)
		}
	})
	t.Run("of one container does not block that of another whose memory limit must not shrink", func(t *testing.T) {
		p := podtest.Pod(podtest.Guaranteed, podtest.AsCreated, podtest.WithSecond(podtest.Guaranteed))
		s, d := snapshotOf(t, p, podtest.Node("n2d")), showing()
		more := *d.needs["app"]
		more.Memory.Target, more.Memory.Lower, more.Memory.Upper = 2048*mib, 2000*mib, 3000*mib
		d.needs["app"].Memory.Target, d.needs["app"].Memory.Lower, d.needs["app"].Memory.Upper = 512*mib, 512*mib, 512*mib
		d.needs["second"] = &more
		s.Now, s.Demand = podtest.At(100*hours), d
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds, KeepMemoryLimits: true}).Plan(s)
		if c := plan.Containers; c[0].Desired.Memory != c[0].Current.Memory || c[1].Desired.Memory != (sizing.Amount{Request: 2048 * mib, Limit: 2048 * mib}) {
			t.Errorf("%+v and %+v: %v", c[0].Desired, c[1].Desired, plan.Reasons)
		}
	})
	t.Run("leaves a pod aligned whose size is near enough", func(t *testing.T) {
		plan := planned(t, podtest.Amounts{"430m", "860m", "1Gi", "2Gi"}, "n4", nil)
		if plan.Decision != Align || plan.Reasons[0].Code != contract.AlreadyAligned || plan.Vetoed || !plan.ReplanAt.IsZero() {
			t.Errorf("%v %+v, again at %v", plan.Decision, plan.Reasons, plan.ReplanAt)
		}
	})
	t.Run("is looked at again when a size is no longer new", func(t *testing.T) {
		plan := planned(t, podtest.Burstable, "n4", func(s *Snapshot, d *shown, p *Planner) {
			agoCPU(23*time.Hour)(s, d, p)
			memoryLater(s, d, p)
		})
		if want := podtest.At(101 * hours); !plan.ReplanAt.Equal(want) {
			t.Errorf("at %v, want %v", plan.ReplanAt, want)
		}
	})
	t.Run("says what a limit follows that changes although the request stays", func(t *testing.T) {
		for _, test := range []struct {
			name   string
			change func(*need.Recommendation)
			want   string
		}{
			{"a multiple of the need", func(*need.Recommendation) {}, "app memory 1000Mi × 1"},
			{"an amount of bytes", func(r *need.Recommendation) { r.Target-- }, "app memory 1000Mi × 1"},
			{"the highest usage", func(r *need.Recommendation) { r.Rules.Limits.Memory, r.Peak = need.Peak, 900*mib-1 }, "app memory of up to 900Mi × 1"},
		} {
			said := planned(t, podtest.Amounts{"400m", "800m", "1Gi", "1500Mi"}, "n4", func(_ *Snapshot, d *shown, _ *Planner) {
				test.change(&d.needs["app"].Memory)
			}, written, resized(10*hours)).Outcome()
			if len(said) == 0 || !strings.HasSuffix(said[0].Message, "; demand from usage: "+test.want) {
				t.Errorf("%s: %+v, want %q", test.name, said, test.want)
			}
		}
	})
	t.Run("says why a size is not lowered, and that a bound determined it", func(t *testing.T) {
		plan := planned(t, podtest.Burstable, "n4", func(s *Snapshot, d *shown, _ *Planner) {
			d.needs["app"].CPU.Keeps = "too little is known"
		})
		if !slices.ContainsFunc(plan.Derivation, func(d Derived) bool { return d.Stage == "settle" && d.Why == "too little is known" }) {
			t.Errorf("%+v", plan.Derivation)
		}
		plan = planned(t, podtest.Burstable, "n4", func(s *Snapshot, _ *shown, _ *Planner) {
			s.Table = tableOf(t, 1.25, 1, &policy.Bounds{CPU: sizing.Range{Min: 450}})
		})
		if plan.Containers[0].Desired.CPU.Request != 450 || !slices.ContainsFunc(plan.Reasons, func(r Reason) bool {
			return r.Code == contract.BoundsClamped && strings.Contains(r.Message, "cpu 500m × 0.8 is clamped to 450m")
		}) {
			t.Errorf("%+v %+v", plan.Containers[0].Desired, plan.Reasons)
		}
	})
	for _, tc := range []struct {
		name    string
		largest int64
		reason  contract.Reason
		message string
		want    int64
	}{
		{"is at most what the largest node has", 3800, contract.DemandExceedsNodes, "container app: cpu 5 × 0.8 is more than any node has, and is clamped to 3800m", 3800},
		{"is more than the pod's own node has, but not more than another one", 4000, contract.NodeCapacity, "", 1000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := planned(t, podtest.Burstable, "n4", func(s *Snapshot, d *shown, _ *Planner) {
				outgrown(s, d, nil)
				d.needs["app"].CPU.Rules.MaxGrowth = 0
				s.Around.Node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3800m"), corev1.ResourceMemory: resource.MustParse("9Gi")}
				if tc.want == 1000 {
					s.Around.Node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("2")
				}
				s.Largest = func() node.Resources { return node.Resources{CPU: tc.largest, Memory: 9 << 30} }
			})
			if got := plan.Containers[0].Desired.CPU.Request; got != tc.want || !slices.ContainsFunc(plan.Reasons, func(r Reason) bool {
				return r.Code == tc.reason && (tc.message == "" || r.Message == tc.message)
			}) {
				t.Errorf("%dm, want %dm: %v", got, tc.want, plan.Reasons)
			}
		})
	}
	t.Run("says that it is more than a pod may grow to", func(t *testing.T) {
		plan := planned(t, podtest.Burstable, "n4", outgrown)
		if !slices.ContainsFunc(plan.Reasons, func(r Reason) bool {
			return r.Code == contract.BoundsClamped && r.Message == "container app: cpu that is needed is clamped from 5 to 2, 2 times the original (demand.maxGrowth)"
		}) {
			t.Errorf("%+v", plan.Reasons)
		}
	})
	t.Run("is named when it sized a pod", func(t *testing.T) {
		said := planned(t, podtest.Burstable, "n4", nil).Outcome()
		if want := "for node type n4 (demand is in units of n2d): app: cpu 1 → 400m, memory 1Gi; demand from usage: app cpu 500m × 0.8"; len(said) == 0 || said[0].Message != want {
			t.Errorf("%+v, want %q", said, want)
		}
	})
	t.Run("is not named when the size does not follow it", func(t *testing.T) {
		said := planned(t, podtest.Burstable, "n4", unknown).Outcome()
		if want := "for node type n4 (demand is in units of n2d): app: cpu 1 → 800m, memory 1Gi"; len(said) == 0 || said[0].Message != want {
			t.Errorf("%+v, want %q", said, want)
		}
	})
	t.Run("says for each resource why the size does not follow it", func(t *testing.T) {
		for name, tc := range map[string]struct {
			plan        *Plan
			cpu, memory string
		}{
			"follows, and near enough": {planned(t, podtest.Burstable, "n4", nil), "", nearEnough},
			"set a short time ago":     {planned(t, podtest.Burstable, "n4", agoCPU(23*time.Hour)), setLately, nearEnough},
			"no decrease":              {planned(t, podtest.Burstable, "n4", unknown), "too little is known", nearEnough},
			"not measured":             {planned(t, podtest.Burstable, "n4", func(_ *Snapshot, d *shown, _ *Planner) { d.needs["app"] = nil }), unknownNeed, unknownNeed},
			"a rule without usage":     {planned(t, podtest.Burstable, "n4", func(s *Snapshot, _ *shown, _ *Planner) { s.Demand = nil }), "", ""},
			"a restore":                {planned(t, podtest.Burstable, "n4", func(s *Snapshot, _ *shown, _ *Planner) { s.Restore = true }, written, resized(10)), "", ""},
		} {
			if cpu, memory := tc.plan.Ignores(0, sizing.CPU), tc.plan.Ignores(0, sizing.Memory); cpu != tc.cpu || memory != tc.memory {
				t.Errorf("%s: %q and %q, want %q and %q", name, cpu, memory, tc.cpu, tc.memory)
			}
		}
	})
	t.Run("does not wait after the first resize of another resource", func(t *testing.T) {
		plan := planned(t, podtest.Burstable, "n2d", func(_ *Snapshot, d *shown, _ *Planner) {
			d.needs["app"].CPU.Target, d.needs["app"].CPU.Upper, d.needs["app"].Memory.Target, d.needs["app"].Memory.Lower = 1000, 1200, 2048*mib, 1800*mib
		}, func(p *corev1.Pod) {
			p.CreationTimestamp, p.Status.StartTime = metav1.NewTime(podtest.At(0)), new(metav1.NewTime(podtest.At(hours)))
		})
		want := "app 0 cpu 1/2@" + podtest.At(hours).Format(time.RFC3339) + " memory 1Gi/2Gi>2Gi/4Gi"
		got := ""
		for _, a := range plan.Actions() {
			if text := a.Annotations[contract.AppliedSizes]; text != nil {
				got = *text
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", plan.Describe(), got, want)
		}
	})
	t.Run("is told if it changes a limit alone", func(t *testing.T) {
		plan := planned(t, podtest.Amounts{"500m", "1", "1000Mi", "1500Mi"}, "n2d", nil)
		if got, want := plan.Describe(), "app: cpu 500m, memory 1000Mi/1500Mi → 1000Mi/2000Mi"; plan.Decision != Resize || got != want {
			t.Errorf("%v: %q, want %q", plan.Decision, got, want)
		}
	})
	t.Run("is told with what has proven too small", func(t *testing.T) {
		plan := planned(t, podtest.Burstable, "n4", func(_ *Snapshot, d *shown, _ *Planner) {
			d.needs["app"].CPU.Floor.Request = 720
		})
		request, lower, upper := plan.Demand(0, sizing.CPU)
		if got := plan.Containers[0].Desired.CPU.Request; got != 576 || plan.Demands() != "app cpu 720m × 0.8" || request != 720 || lower != 600 || upper != 720 {
			t.Errorf("%dm, demand from usage: %s; %dm, tolerated: %dm to %dm", got, plan.Demands(), request, lower, upper)
		}
	})
	t.Run("is recorded on the pod", func(t *testing.T) {
		record := func(text string) func(*corev1.Pod) {
			return func(p *corev1.Pod) {
				podtest.Annotated("applied-demand", text, "applied-sizes", "app 0 cpu 1/2>400m/800m memory 1Gi/2Gi")(p)
				podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10*hours, "app"), podtest.Managed(contract.FieldManager, "", 10*hours, contract.AppliedAt, contract.AppliedSizes, contract.AppliedDemand, contract.OriginalPrefix+"cpu.app"))(p)
			}
		}
		withoutUsage := func(s *Snapshot, _ *shown, _ *Planner) { s.Demand = nil }
		more := func(_ *Snapshot, d *shown, _ *Planner) {
			d.needs["app"].Memory.Target, d.needs["app"].Memory.Lower, d.needs["app"].Memory.Upper = 2048*mib, 2000*mib, 3000*mib
		}
		for name, tc := range map[string]struct {
			plan *Plan
			want string
		}{
			"of a first size":                                {planned(t, podtest.Burstable, "n4", nil), "app cpu 500m"},
			"but not if the author's is kept":                {planned(t, podtest.Burstable, "n4", unknown), ""},
			"nor without usage":                              {planned(t, podtest.Burstable, "n4", withoutUsage), ""},
			"and stays for what does not move":               {planned(t, podtest.Amounts{"390m", "780m", "1Gi", "2Gi"}, "n4", more, written, record("app cpu 490m")), "app cpu 490m memory 2Gi"},
			"and stays while nothing is known":               {planned(t, podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, "n4", func(_ *Snapshot, d *shown, _ *Planner) { d.needs["app"] = nil }, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi", "applied-instance-type", "n2d"), record("app cpu 500m")), "app cpu 500m"},
			"and goes without usage, even if the size stays": {planned(t, podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, "n4", withoutUsage, written, record("app cpu 1"), podtest.Annotated("applied-sizes", "app 0 cpu 1/2>800m/1600m memory 1Gi/2Gi")), "removed"},
			"and goes without usage":                         {planned(t, podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, "n4", withoutUsage, written, record("app cpu 500m")), "removed"},
		} {
			got := ""
			for _, a := range tc.plan.Actions() {
				if text, ok := a.Annotations[contract.AppliedDemand]; ok && text != nil {
					got = *text
				} else if ok {
					got = "removed"
				}
			}
			if got != tc.want {
				t.Errorf("%s: %q, want %q; %v", name, got, tc.want, tc.plan.Describe())
			}
		}
	})
	t.Run("that only new pods get leaves running ones alone", func(t *testing.T) {
		table, err := ratios.Merge([]*ratios.Layer{{
			Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
			Settings: keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Initial}}),
		}})
		if err != nil {
			t.Fatal(err)
		}
		var of *pod.Pod
		p := planned(t, podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}, "n4", func(s *Snapshot, _ *shown, _ *Planner) { s.Demand, s.Table, of = nil, table, s.Pod },
			written, podtest.Annotated("applied-demand", "app cpu 500m", "applied-sizes", "app 0 cpu 1/2>400m/800m memory 1Gi/2Gi"),
			podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10*hours, "app"), podtest.Managed(contract.FieldManager, "", 10*hours, contract.AppliedAt, contract.AppliedSizes, contract.AppliedDemand, contract.OriginalPrefix+"cpu.app")))
		if c := p.Containers[0]; c.Desired != c.Current || p.Pending() || p.Ignores(0, sizing.CPU) != demandKept || p.Ignores(0, sizing.Memory) != "" {
			t.Errorf("%v because of %v: %v", p.Describe(), p.Reasons, p.Derivation)
		}
		if cpu, lower, _ := p.Demand(0, sizing.CPU); cpu != 500 || lower != 0 || p.Kept(0, sizing.CPU) != 500 || p.Kept(0, sizing.Memory) != 0 {
			t.Errorf("it needed %dm of cpu when it was sized, of which %dm are kept, want 500m", cpu, p.Kept(0, sizing.CPU))
		}
		if said := p.AtCreation(of).Message; !strings.Contains(said, "(demand is in units of n2d)") || !strings.HasSuffix(said, "; demand from usage: app cpu 500m") {
			t.Errorf("says %q", said)
		}
	})
	t.Run("that moves gives the same reasons to a pod that waits", func(t *testing.T) {
		waiting := func(target int64) []Reason {
			return planned(t, podtest.Burstable, "n4", func(s *Snapshot, d *shown, _ *Planner) {
				d.needs["app"].CPU.Target = target
				s.Paused = &Stop{Scope: "the cluster"}
			}).Reasons
		}
		if a, b := waiting(500), waiting(520); !slices.Equal(a, b) {
			t.Errorf("%+v, then %+v", a, b)
		}
	})
	// sibling returns another pod that got a size of CPU at a time.
	sibling := func(cpu int64, at int) *pod.Pod {
		return pod.From(podtest.Pod(podtest.Amounts{fmt.Sprintf("%dm", cpu), fmt.Sprintf("%dm", 2*cpu), "1Gi", "2Gi"}, podtest.AsCreated, written, resized(at), func(p *corev1.Pod) {
			p.Name, p.UID = fmt.Sprint("tries-", at), types.UID(fmt.Sprint("tries-", at))
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Resources: &p.Spec.Containers[0].Resources, AllocatedResources: p.Spec.Containers[0].Resources.Requests}}
		}))
	}
	for _, tc := range []struct {
		name   string
		target int64
		change func(*Snapshot)
		want   int64
	}{
		{name: "lowers by up to a fifth a size that has proven itself", target: 400, want: 400},
		{name: "does not lower even by that while a PodDisruptionBudget allows no disruption", target: 400, change: func(s *Snapshot) {
			s.Budgets = func() []workload.Limit { return []workload.Limit{{Name: "web", Pods: s.Siblings}} }
		}, want: 500},
		{name: "is tried on other pods before it lowers a size by more", target: 399, want: 500},
		{name: "lowers by more a size if other pods have proven one that is hardly larger", target: 300, change: func(s *Snapshot) { s.Siblings()[0] = sibling(375, 80*hours) }, want: 300},
		{name: "is tried first if other pods have only proven a larger size", target: 300, change: func(s *Snapshot) { s.Siblings()[0] = sibling(376, 80*hours) }, want: 500},
		{name: "is tried on other pods while the size is observed", target: 400, change: func(s *Snapshot) { s.Now = podtest.At(90*hours + 299) }, want: 500},
	} {
		t.Run(tc.name, func(t *testing.T) {
			small := podtest.Amounts{"500m", "1", "1Gi", "2Gi"}
			plan := planned(t, small, "n2d", func(s *Snapshot, d *shown, _ *Planner) {
				r := rules()
				r.Updates = need.Updates{Band: 0.1, Separate: true}
				d.needs["app"].CPU = need.Recommendation{Target: tc.target, Lower: 1, Upper: 450, Rules: r}
				d.needs["app"].Memory = need.Recommendation{Target: 1024 * mib, Lower: 1, Upper: 1 << 40, Rules: r}
				other := podtest.Pod(small, podtest.AsCreated, func(p *corev1.Pod) { p.Name, p.UID = "other", "other-uid" })
				siblings := []*pod.Pod{pod.From(other), sibling(tc.target, 90*hours+200)}
				s.Siblings, s.NodeOf = func() []*pod.Pod { return siblings }, func(*pod.Pod) *corev1.Node { return s.Around.Node }
				if s.Now = podtest.At(90*hours + 300); tc.change != nil {
					tc.change(s)
				}
			}, written, resized(90*hours))
			if got := plan.Containers[0].Desired.CPU.Request; got != tc.want || (got == 500) != slices.ContainsFunc(plan.Reasons, func(r Reason) bool { return r.Code == contract.WaitingForProof || r.Code == contract.DisruptionBudget }) {
				t.Errorf("%dm, want %dm: %v", got, tc.want, plan.Reasons)
			}
		})
	}
	t.Run("may have led to a limit to which a resize is reverted", func(t *testing.T) {
		p := podtest.Pod(podtest.Amounts{"1", "2", "500Mi", "1000Mi"}, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "1100Mi",
			"applied-instance-type", "n2d", "applied-at", podtest.At(100*hours+1).Format(time.RFC3339), "applied-sizes", "app 0 cpu 1/2 memory 800Mi/1600Mi>500Mi/1000Mi"),
			podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(100*hours, "app"), podtest.Managed(contract.FieldManager, "", 100*hours+1, contract.AppliedAt, contract.AppliedSizes, contract.OriginalPrefix+"cpu.app")),
			func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", RestartCount: 1, Resources: &p.Spec.Containers[0].Resources, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
					LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(podtest.At(100*hours + 20))}}}}
			})
		s := snapshotOf(t, p, podtest.Node("n2d"))
		s.Now, s.Demand = podtest.At(100*hours+30), showing()
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
		if want := (sizing.Amount{Request: 800 * mib, Limit: 1600 * mib}); plan.Kind != Revert || plan.Containers[0].Desired.Memory != want {
			t.Errorf("%v %+v: %+v", plan.Kind, plan.Containers[0].Desired.Memory, plan.Reasons)
		}
	})
}

// rules returns arbitrary rules.
func (a arbitrary) rules() *need.Rules {
	r := rules()
	u := &r.Updates
	u.Separate, u.InUse, u.AnyKill = a.oneIn(2), a.oneIn(2), a.oneIn(2)
	u.Band, u.After = at(a, 0, 0.05, 0.1), at(a, 0, time.Minute, 12*time.Hour)
	u.DecreaseCPU, u.DecreaseMemory, u.DecreaseLimit = at(a, 0, time.Minute, 24*time.Hour), at(a, 0, time.Minute, 36*time.Hour), at(a, 0, time.Minute, 72*time.Hour)
	r.Limits = need.Limits{
		CPU: at(a, need.Follow, need.Keep, need.None), Memory: at(a, need.Follow, need.Keep, need.None, need.Multiple, need.Peak),
		MemoryMultiple: at(a, 0.5, 1, 1.3, 2, 1e300, math.NaN(), math.Inf(1)), MemoryHeadroom: at[int64](a, 0, 250*mib, math.MaxInt64),
	}
	return r
}

// recommendation returns what a resource may need according to usage, however odd.
func (a arbitrary) recommendation(r *need.Rules, most int64) need.Recommendation {
	amount := func() int64 {
		switch a.IntN(12) {
		case 0:
			return 0
		case 1:
			return math.MaxInt64
		}
		return a.upTo(most)
	}
	of := need.Recommendation{Target: amount(), Rules: r, Keeps: at(a, "", "", "too little is known"), KeepsLimit: at(a, "", "", "no peaks")}
	if of.Lower, of.Upper = of.Target/2, of.Target; a.oneIn(4) {
		of.Lower, of.Upper = amount(), amount()
	}
	if a.oneIn(3) {
		of.Max = amount()
	}
	of.Peak = of.Upper
	return of
}

// TestDemandSettles executes plans by usage for arbitrary pods: each keeps the rules for every plan, and then there is
// nothing to change until something changes, or until the time that the plan says.
func TestDemandSettles(t *testing.T) {
	const seed1, seed2, pods, seconds = 27, 28, 400, 10_000_000
	counts := map[string]int{}
	for i := range pods {
		a := arbitrary{rand.New(rand.NewPCG(seed1, seed2+uint64(i)))}
		p := a.pod()
		planner := Planner{OwnerKinds: DefaultOwnerKinds, Sidecars: a.oneIn(2), KeepMemoryLimits: a.oneIn(4)}
		table, on := a.table(t), podtest.Node(a.nodeType())
		d := &shown{needs: map[string]*need.Container{}, uses: at(a, 0, a.upTo(1<<40))}
		for c := range podtest.ContainersOf(p) {
			if r := a.rules(); !a.oneIn(3) {
				d.needs[c.Name] = &need.Container{CPU: a.recommendation(r, 1e6), Memory: a.recommendation(r, 1<<40)}
			}
		}
		if a.oneIn(2) {
			ago := func() time.Time { return podtest.At(seconds - a.IntN(4*24*3600)) }
			d.resized = need.Resized{ago(), ago()}
		}
		planAt := func(p *corev1.Pod, now int) *Plan {
			s := &Snapshot{Pod: pod.From(p), Table: table, Around: safety.Surroundings{Room: node.Room{Node: on}}, Demand: d, Now: podtest.At(now)}
			plan := planner.Plan(s)
			checkPlan(t, p, s, plan)
			if !plan.ReplanAt.IsZero() && !plan.ReplanAt.After(s.Now) {
				t.Errorf("planned at %v, and again at %v", s.Now, plan.ReplanAt)
			}
			return plan
		}
		plan := planAt(p, seconds)
		p = carriedOut(t, p, plan, seconds)
		counts[plan.Decision.String()]++
		if plan.Decision == Resize && d.resized != (need.Resized{}) {
			d.resized = need.Resized{podtest.At(seconds), podtest.At(seconds)}
		}
		for now, steps := seconds+1, 0; steps < 3; steps++ {
			again := planAt(p, now)
			if again.Pending() {
				t.Errorf("planned again after %ds, it is %v because of %v: %s\n%+v", now-seconds, again.Decision, again.Reasons, again.Describe(), again.Containers)
				break
			}
			if again.ReplanAt.IsZero() {
				now += 100 * 24 * 3600
			} else if next := int(again.ReplanAt.Sub(podtest.At(0))/time.Second) - 1; next > now {
				now = next
			}
		}
		if t.Failed() {
			t.Fatalf("seeds %d, %d, %s", seed1, seed2+uint64(i), fmt.Sprintf("%+v %v %v", plan.Containers, plan.Decision, plan.Reasons))
		}
	}
	if counts["resize"] < pods/4 {
		t.Errorf("decisions %v", counts)
	}
}
