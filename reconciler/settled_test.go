package reconciler

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// TestWhatBecomesOfOthersSizesIsSaid has somebody set the cpu of a pod that we had sized.
func TestWhatBecomesOfOthersSizesIsSaid(t *testing.T) {
	for external, want := range map[External]string{
		OverrideExternal: "container app: cpu 1200m/1600m, which they set, is overridden with 800m/1600m",
		AdoptExternal:    "container app: cpu 1200m/1600m, which they set, is adopted (from now on originally 1500m/2)",
	} {
		p := podWith(amounts{"1200m", "1600m", "1Gi", ""}, managedBy(asMade, resizeBy(contract.FieldManager, 10, contract.CPULimit),
			resizeBy("they", 20, contract.CPURequest), managed(contract.FieldManager, "", 11, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"cpu-limit.app")),
			annotated("original-cpu.app", "1", "original-cpu-limit.app", "2"))
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(snapshotOf(t, p, node("n4")))
		if said := plan.outcome(); len(said) == 0 || !strings.HasSuffix(said[0].Message, want) {
			t.Errorf("%v: said %v, want %q", external, said, want)
		}
	}
}
