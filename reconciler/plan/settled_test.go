package plan

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestSettled(t *testing.T) {
	t.Run("describes what happens to sizes of other actors", describesWhatHappensToSizesOfOtherActors)
}

// Another actor set the cpu of a pod that we had sized.
func describesWhatHappensToSizesOfOtherActors(t *testing.T) {
	for external, want := range map[External]string{
		OverrideExternal: "container app: cpu 1200m/1600m, set by they, is overridden with 800m/1600m",
		AdoptExternal:    "container app: cpu 1200m/1600m, set by they, is adopted (new original: 1500m/2)",
	} {
		p := podtest.Pod(podtest.Amounts{"1200m", "1600m", "1Gi", ""}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(contract.FieldManager, 10, contract.CPULimit),
			podtest.ResizeBy("they", 20, contract.CPURequest), podtest.Managed(contract.FieldManager, "", 11, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"cpu-limit.app")),
			podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2"))
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(snapshotOf(t, p, podtest.Node("n4")))
		if said := plan.Outcome(); len(said) == 0 || !strings.HasSuffix(said[0].Message, want) {
			t.Errorf("%v: outcome %v, want %q", external, said, want)
		}
	}
}
