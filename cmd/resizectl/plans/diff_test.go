package plans

import (
	"fmt"
	"runtime"
	"testing"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func sized(decision workloadresizerv1.Decision, current, desired string) *workloadresizerv1.Plan {
	of := func(cpu string) *workloadresizerv1.Resources {
		return &workloadresizerv1.Resources{Requests: map[string]string{"cpu": cpu, "memory": "512Mi"}, Limits: map[string]string{"memory": "1Gi"}}
	}
	return &workloadresizerv1.Plan{Decision: decision, Pod: "web-0", Containers: []*workloadresizerv1.ContainerPlan{{Name: "app", Current: of(current), Desired: of(desired)}}}
}

// TestOutcome checks which plans come to the same.
func TestOutcome(t *testing.T) {
	const aligned, resize, skip = workloadresizerv1.Decision_DECISION_ALIGNED, workloadresizerv1.Decision_DECISION_RESIZE, workloadresizerv1.Decision_DECISION_SKIP
	for name, tc := range map[string]struct {
		a, b *workloadresizerv1.Plan
		same bool
	}{
		"the same sizes":                   {sized(resize, "1", "2"), sized(resize, "1", "2"), true},
		"another current size of a resize": {sized(resize, "1", "2"), sized(resize, "3", "2"), true},
		"another desired size":             {sized(resize, "1", "2"), sized(resize, "1", "3"), false},
		"a desired size that is not set":   {sized(skip, "1", "2"), sized(skip, "1", "3"), true},
		"another decision":                 {sized(skip, "1", "1"), sized(aligned, "1", "1"), false},
	} {
		for range 20 { // Maps have no order.
			if got := OutcomeOf(tc.a) == OutcomeOf(tc.b); got != tc.same {
				t.Fatalf("%s: the same: %v", name, got)
			}
		}
	}
}

// BenchmarkOutcome keeps the outcomes of 150,000 pods.
func BenchmarkOutcome(b *testing.B) {
	const pods = 150_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		kept := map[uint64]Outcome{}
		for i := range pods {
			kept[uint64(i)] = OutcomeOf(sized(workloadresizerv1.Decision_DECISION_RESIZE, "1", fmt.Sprintf("%dm", i)))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		runtime.KeepAlive(kept)
	}
}
