package plan

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/schedule"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
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
	layer.Guard = ratios.Guard{Schedule: schedule.Schedule{sunday}}
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
		for _, change := range []func(*ratios.GuardSettings){
			func(g *ratios.GuardSettings) { g.Enabled = false }, func(g *ratios.GuardSettings) { g.Cooldown = time.Minute }, func(g *ratios.GuardSettings) { g.Unready = time.Second },
		} {
			profile := *a.profile
			change(&profile.Guard)
			b := a
			b.profile = &profile
			if a.SizesAs(&b) {
				t.Errorf("pods are planned as before with %+v instead of %+v", profile.Guard, a.profile.Guard)
			}
		}
	})
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
		{"a later resize", podtest.Pod(ofN4, podtest.SizedForN4, podtest.AsResized), "big", nil, Skip, Sizes, contract.Degraded},
		{"a resize to the originals", podtest.Pod(ofN4, podtest.SizedForN4, podtest.AsResized), "n2d", nil, Skip, Sizes, contract.Degraded},
		{"a pod that needs no resize", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), "n2d", nil, Align, Sizes, contract.AlreadyAligned},
		{"a revert", leaky(), "big", nil, Resize, Revert, contract.Reverted},
		{"a size that a revert raised for a moment", leaky(sized(podtest.Amounts{"500m", "500m", "1025Mi", "1025Mi"}), memoryReverted("1")), "big", nil, Resize, Revert, contract.Reverted},
		{"a restore", leaky(), "big", func(s *Snapshot) { s.Restore = true }, Resize, Restore, contract.Restored},
		{"a size that its node refuses", podtest.Pod(ofN4, podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed), podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20), podtest.SizedForN4, podtest.AsResized), "n2d", nil, Resize, PutBack, contract.ResizeInfeasible},
		{"a frozen cluster", podtest.Pod(podtest.Guaranteed, podtest.AsCreated), "big", func(s *Snapshot) { s.Frozen = "frozen" }, Skip, Sizes, contract.Frozen},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshotOf(t, tc.pod, podtest.Node(tc.node))
			s.Now, s.Degraded = podtest.At(60), "3 of the last 5"
			if tc.change != nil {
				tc.change(s)
			}
			p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			if p.Decision != tc.decision || p.Kind != tc.kind || p.Reasons[0].Code != tc.reason {
				t.Errorf("decision %v, kind %v, reasons %v", p.Decision, p.Kind, p.Reasons)
			}
			if degraded := p.Reasons[0]; degraded.Code == contract.Degraded && (degraded.Message != s.Degraded || !p.Vetoed || !p.ReplanAt.IsZero()) {
				t.Errorf("%v, vetoed: %t, again at %v", degraded, p.Vetoed, p.ReplanAt)
			}
		})
	}
}
