package plan

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestWhatWasAdoptedStaysWhenMoreIsAdopted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		planner := Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
		req := 100 + r.Int64N(3000)
		lim := req + 1 + r.Int64N(3000)
		p := podtest.Pod(podtest.Amounts{sizing.CPUText(req), sizing.CPUText(lim), "1Gi", "2Gi"})
		asMadeWith(p)

		nt := []string{"n4", "slow"}[r.IntN(2)]
		p = carriedOut(t, p, planner.Plan(snapshotOf(t, p, podtest.Node(nt))), 10)
		seconds := 20
		for k := range 3 {
			q := p.DeepCopy()
			res := q.Spec.Containers[0].Resources
			rq, lq := res.Requests.Cpu().MilliValue(), res.Limits.Cpu().MilliValue()
			if (k+r.IntN(2))%2 == 0 {
				res.Requests[corev1.ResourceCPU] = resource.MustParse(sizing.CPUText(max(50, 1+r.Int64N(lq-1))))
			} else {
				res.Limits[corev1.ResourceCPU] = resource.MustParse(sizing.CPUText(rq + 1 + r.Int64N(3000)))
			}
			if res.Requests.Cpu().Cmp(*res.Limits.Cpu()) >= 0 {
				continue
			}
			q.ManagedFields = owning(p, q, "kubectl", contract.ResizeSubresource, seconds)
			p = q
			seconds += 10
			plan := planner.Plan(snapshotOf(t, p, podtest.Node(nt)))
			c := &plan.Containers[0]
			for _, which := range []contract.Original{contract.CPURequest, contract.CPULimit} {
				has, _ := amountOf(&c.Current, which)
				if to, _ := amountOf(&c.Desired, which); c.adopted()&(1<<which) != 0 && to != has {
					t.Errorf("adopting makes %v of %v: %v", c.Desired.CPU, c.Current.CPU, plan.Reasons)
				}
			}
			p = carriedOut(t, p, plan, seconds)
			seconds += 10
			again := planner.Plan(snapshotOf(t, p, podtest.Node(nt)))
			if again.Pending() {
				t.Fatalf("planned again: %v of %v because of %v", again.Containers[0].Desired.CPU, again.Containers[0].Current.CPU, again.Reasons)
			}
		}
	}
}
