package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// adopts plans a pod with AdoptExternal on a node until nothing remains to be done.
func adopts(t *testing.T, p *corev1.Pod, nodeType string) *corev1.Pod {
	t.Helper()
	planner := Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	for seconds := 30; seconds < 60; seconds += 10 {
		plan := planner.Plan(snapshotOf(t, p, podtest.Node(nodeType)))
		p = carriedOut(t, p, plan, seconds)
	}
	return p
}

// resizedBy returns the pod after a resize by another manager.
func resizedBy(p *corev1.Pod, manager string, to podtest.Amounts) *corev1.Pod {
	after := p.DeepCopy()
	after.Spec.Containers[0].Resources = to.Requirements()
	after.ManagedFields = owning(p, after, manager, contract.ResizeSubresource, 20)
	return after
}

func TestAdoptBeside(t *testing.T) {
	t.Run("sizes the limit when it adopts the request", sizesTheLimitWhenItAdoptsTheRequest)
	t.Run("keeps an adopted limit when it sizes the request", keepsAnAdoptedLimitWhenItSizesTheRequest)
}

// Another actor sets the request of a pod that was never sized. The request is adopted, and
// the limit is scaled from its original.
func sizesTheLimitWhenItAdoptsTheRequest(t *testing.T) {
	p := adopts(t, resizedBy(podtest.Pod(podtest.Amounts{"1", "4", "1Gi", "1Gi"}, asMadeWith), "they", podtest.Amounts{"2", "4", "1Gi", "1Gi"}), "n4")
	has := p.Spec.Containers[0].Resources
	if has.Requests.Cpu().String() != "2" || has.Limits.Cpu().String() != "3200m" {
		t.Errorf("cpu %s/%s, want 2/3200m", has.Requests.Cpu(), has.Limits.Cpu())
	}
}

// Another actor sets the limit of a pod that was never sized. The limit is adopted, and stays
// when the request is sized.
func keepsAnAdoptedLimitWhenItSizesTheRequest(t *testing.T) {
	p := adopts(t, resizedBy(podtest.Pod(podtest.Amounts{"1", "4", "1Gi", "1Gi"}, asMadeWith), "they", podtest.Amounts{"1", "5", "1Gi", "1Gi"}), "slow")
	has := p.Spec.Containers[0].Resources
	if has.Requests.Cpu().String() != "1250m" || has.Limits.Cpu().String() != "5" {
		t.Errorf("cpu %s/%s, want 1250m/5", has.Requests.Cpu(), has.Limits.Cpu())
	}
}

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
