package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestAdoptedLimit(t *testing.T) {
	t.Run("keeps an adopted limit at any factor", keepsAnAdoptedLimitAtAnyFactor)
	t.Run("keeps an added limit less than a unit above its request", keepsAnAddedLimitLessThanAUnitAboveItsRequest)
}

func keepsAnAdoptedLimitAtAnyFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		nodeType := []string{"n2d", "n4", "big", "slow"}[r.IntN(4)]
		cpu, memory := 60+r.Int64N(3000), 70<<20+r.Int64N(200<<20)
		cpuLimit, memoryLimit := cpu+1+r.Int64N(3), memory+1+r.Int64N(3<<20)
		if cpu == 1000 || cpuLimit == 2000 {
			continue // An original amount is not adopted.
		}
		set := podtest.Amounts{fmt.Sprintf("%dm", cpu), fmt.Sprintf("%dm", cpuLimit), fmt.Sprint(memory), fmt.Sprint(memoryLimit)}
		p := resizedBy(podtest.Pod(podtest.Amounts{"1", "2", "128Mi", "256Mi"}, asMadeWith), "they", set)
		if q := adopts(t, p, nodeType); podtest.SizesOf(q) != podtest.SizesOf(p) {
			t.Fatalf("on %s, %s becomes %s", nodeType, podtest.SizesOf(p), podtest.SizesOf(q))
		}
	}
}

func keepsAnAddedLimitLessThanAUnitAboveItsRequest(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "", "100000000", "100200000"},
		podtest.Annotated("original-cpu.app", "1", "original-memory.app", "100000000", "applied-instance-type", "n2d"),
		podtest.ManagedBy(podtest.BareMade, podtest.ResizeBy(contract.FieldManager, 10, contract.CPURequest, contract.MemoryRequest),
			podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app")))
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, podtest.Node("n2d")))
	if c := &plan.Containers[0]; c.Desired != c.Current {
		t.Errorf("%v becomes %v", c.Current, c.Desired)
	}
}
