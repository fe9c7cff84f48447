package plans

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestExplainSizes(t *testing.T) {
	t.Run("explains each resource independently", explainsEachResourceIndependently)
	t.Run("explains sizes that pods keep", explainsSizesThatPodsKeep)
	t.Run("does not report unknown bounds as a reason", doesNotReportUnknownBoundsAsAReason)
}

// The explanation of a resource does not depend on the others.
func explainsEachResourceIndependently(t *testing.T) {
	const skip, resize, align = workloadresizerv1.Decision_DECISION_SKIP, workloadresizerv1.Decision_DECISION_RESIZE, workloadresizerv1.Decision_DECISION_ALIGNED
	const below = ", for one of the reasons below"
	original := cmdtest.Resources("1", "1Gi", "2", "2Gi")
	for _, tc := range []struct {
		name                       string
		decision                   workloadresizerv1.Decision
		code                       string
		restored                   bool
		original, current, desired *workloadresizerv1.Resources
		want                       string
	}{
		{"another actor set the memory, and cpu is sized", skip, "ExternallyResized", false,
			original, cmdtest.Resources("800m", "1500Mi", "1600m", "1639Mi"), cmdtest.Resources("800m", "1500Mi", "1600m", "1639Mi"),
			"cpu 1 × 0.8 → 800m, limit 2 → 1600m; memory stays 1500Mi, limit 1639Mi" + below + " (original: 1Gi, limit 2Gi)"},
		{"another actor set the memory, and cpu will be sized", resize, "ExternallyResized", false,
			original, cmdtest.Resources("1", "1500Mi", "2", "1639Mi"), cmdtest.Resources("800m", "1500Mi", "1600m", "1639Mi"),
			"cpu 1 × 0.8 → 800m, limit 2 → 1600m, and it has 1 now; memory stays 1500Mi, limit 1639Mi" + below + " (original: 1Gi, limit 2Gi)"},
		{"another actor set only a limit", skip, "ExternallyResized", false,
			original, cmdtest.Resources("800m", "820Mi", "1600m", "3Gi"), cmdtest.Resources("800m", "820Mi", "1600m", "3Gi"),
			"cpu 1 × 0.8 → 800m, limit 2 → 1600m; memory 1Gi × 0.8 → 820Mi, limit stays 3Gi" + below + " (original: 2Gi)"},
		{"an unknown original", resize, "InvalidAnnotation", false,
			cmdtest.Resources("1", "", "2", ""), cmdtest.Resources("1", "900Mi", "2", "2Gi"), cmdtest.Resources("800m", "900Mi", "1600m", "2Gi"),
			"cpu 1 × 0.8 → 800m, limit 2 → 1600m, and it has 1 now; memory stays 900Mi, limit 2Gi: its original is unknown"},
		{"a limit that the author did not write", align, "AlreadyAligned", false,
			cmdtest.Resources("1", "1Gi", "", ""), cmdtest.Resources("800m", "820Mi", "3", ""), cmdtest.Resources("800m", "820Mi", "3", ""),
			"cpu 1 × 0.8 → 800m, limit stays 3: its original is unknown; memory 1Gi × 0.8 → 820Mi"},
		{"a resource that needs a restart", align, "RestartRequired", false,
			original, cmdtest.Resources("1", "820Mi", "2", "1639Mi"), cmdtest.Resources("1", "820Mi", "2", "1639Mi"),
			"cpu stays 1, limit 2" + below + " (original: 1, limit 2); memory 1Gi × 0.8 → 820Mi, limit 2Gi → 1639Mi"},
		{"a memory limit that must not shrink", resize, "MemoryLimitKept", false,
			original, original, cmdtest.Resources("800m", "820Mi", "1600m", "2Gi"),
			"cpu 1 × 0.8 → 800m, limit 2 → 1600m, and it has 1 now; memory 1Gi × 0.8 → 820Mi, limit stays 2Gi" + below + " (original: 2Gi), and it has 1Gi now"},
		{"a node without room for memory", resize, "NodeCapacity", false,
			original, cmdtest.Resources("1", "512Mi", "2", "1Gi"), cmdtest.Resources("800m", "512Mi", "1600m", "1Gi"),
			"cpu 1 × 0.8 → 800m, limit 2 → 1600m, and it has 1 now; memory stays 512Mi, limit 1Gi" + below + " (original: 1Gi, limit 2Gi)"},
		{"a node that refuses the cpu", resize, "ResizeInfeasible", false,
			original, cmdtest.Resources("800m", "820Mi", "1600m", "1639Mi"), cmdtest.Resources("1", "820Mi", "2", "1639Mi"),
			"cpu reverts to 1, limit 2, and it has 800m now; memory 1Gi × 0.8 → 820Mi, limit 2Gi → 1639Mi"},
		{"a pod that starts", align, "StartupBoost", false,
			original, cmdtest.Resources("2400m", "820Mi", "4800m", "1639Mi"), cmdtest.Resources("2400m", "820Mi", "4800m", "1639Mi"),
			"cpu 2400m, limit 4800m, while the pod starts (1 × 0.8 after that); memory 1Gi × 0.8 → 820Mi, limit 2Gi → 1639Mi"},
		{"a pod that has started", resize, "StartupBoost", false,
			original, cmdtest.Resources("2400m", "820Mi", "4800m", "1639Mi"), cmdtest.Resources("800m", "820Mi", "1600m", "1639Mi"),
			"cpu 1 × 0.8 → 800m, limit 2 → 1600m, and it has 2400m now; memory 1Gi × 0.8 → 820Mi, limit 2Gi → 1639Mi"},
		{"a pod that is skipped because of what it is", skip, "OptedOut", false,
			cmdtest.Resources("800m", "1Gi", "", ""), cmdtest.Resources("800m", "1Gi", "", ""), cmdtest.Resources("800m", "1Gi", "", ""),
			"cpu stays 800m; memory stays 1Gi"},
		{"a deleted pod is not described as written", skip, "Terminating", true,
			cmdtest.Resources("800m", "820Mi", "", ""), cmdtest.Resources("800m", "820Mi", "", ""), cmdtest.Resources("800m", "820Mi", "", ""),
			"cpu stays 800m; memory stays 820Mi"},
		{"a restore of all", resize, "Restored", true,
			original, cmdtest.Resources("800m", "820Mi", "1600m", "1639Mi"), original,
			"cpu 1, limit 2, as its author wrote it, and it has 800m now; memory 1Gi, limit 2Gi, as its author wrote it, and it has 820Mi now"},
		{"a restore that leaves what another actor set", skip, "ExternallyResized", true,
			original, cmdtest.Resources("1", "1500Mi", "2", "1639Mi"), cmdtest.Resources("1", "1500Mi", "2", "1639Mi"),
			"cpu 1, limit 2, as its author wrote it; memory stays 1500Mi, limit 1639Mi" + below + " (original: 1Gi, limit 2Gi)"},
		{"a restore with an unknown original", skip, "InvalidAnnotation", true,
			cmdtest.Resources("", "1Gi", "", ""), cmdtest.Resources("800m", "1Gi", "", ""), cmdtest.Resources("800m", "1Gi", "", ""),
			"cpu stays 800m: its original is unknown; memory 1Gi, as its author wrote it"},
		{"a restore that leaves a limit", resize, "InvalidAnnotation", true,
			cmdtest.Resources("1", "1Gi", "", ""), cmdtest.Resources("800m", "1Gi", "3", ""), cmdtest.Resources("1", "1Gi", "3", ""),
			"cpu 1, limit 3 (original: 1, limit unknown), and it has 800m now; memory 1Gi, as its author wrote it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := cmdtest.OnN4("default", "web-0", tc.decision)
			plan.MemoryFactor = new(0.8)
			plan.Reasons = []*workloadresizerv1.PlanReason{{Code: tc.code}}
			f := &facts{plan: plan}
			if tc.restored {
				f.holds = []*workloadresizerv1.Hold{{Kind: workloadresizerv1.HoldKind_HOLD_KIND_RESTORE}}
			}
			got := f.containerStep(print.Painter{}, &workloadresizerv1.ContainerPlan{Name: "app", Original: tc.original, Current: tc.current, Desired: tc.desired})
			if want := "Container app: " + tc.want + "."; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A size that a pod keeps from its creation comes from what usage showed then, whatever its author wrote.
func explainsSizesThatPodsKeep(t *testing.T) {
	const why = "the size comes from usage, and a pod keeps it"
	has, original := cmdtest.Resources("476m", "", "", ""), cmdtest.Resources("1", "", "", "")
	demands := map[string]*workloadresizerv1.ResourceDemand{"cpu": {Source: workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE, Request: "595m", Message: why}}
	for want, desired := range map[string]*workloadresizerv1.Resources{
		"cpu stays 476m: usage showed 595m on the baseline when the pod was sized; " + why:                has,
		"cpu 500m, and it has 476m now: usage showed 595m on the baseline when the pod was sized; " + why: cmdtest.Resources("500m", "", "", ""),
	} {
		f := &facts{plan: cmdtest.OnN4("default", "web-0", workloadresizerv1.Decision_DECISION_ALIGNED)}
		f.plan.Containers = []*workloadresizerv1.ContainerPlan{{Name: "app", Original: original, Current: has, Desired: desired, Demands: demands}}
		if got := f.containerStep(print.Painter{}, f.plan.Containers[0]); got != "Container app: "+want+"." {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if got, want := f.demandStep(), "Demand: app cpu 595m from usage when the pod was sized."; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// If the caller may not see a bound that took effect, the explanation must not claim that
// the size was left unchanged.
func doesNotReportUnknownBoundsAsAReason(t *testing.T) {
	plan := cmdtest.OnN4("default", "web-0", workloadresizerv1.Decision_DECISION_SKIP)
	plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "ExternallyResized"}, {Code: "BoundsClamped"}}
	f := &facts{plan: plan, otherRevision: true}
	has := cmdtest.Resources("50m", "", "", "")
	got := f.containerStep(print.Painter{}, &workloadresizerv1.ContainerPlan{Name: "app", Original: cmdtest.Resources("10m", "", "", ""), Current: has, Desired: has})
	if want := "Container app: cpu 10m × 0.8 → 50m."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
