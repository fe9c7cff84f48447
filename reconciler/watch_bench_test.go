package reconciler

import (
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// BenchmarkAffected is of a change of ratios that touches none of the pods: what it takes
// to find those that it does.
func BenchmarkAffected(b *testing.B) {
	for _, pods := range []int{20_000, 150_000} {
		b.Run(fmt.Sprint(pods, " pods"), func(b *testing.B) {
			r := thousands(b, pods, 200)
			for i := range 200 {
				do(b, r.factory.Core().V1().Nodes().Informer().GetIndexer().Add(nodeNamed(fmt.Sprint("node-", i), "n2d", "64")))
			}
			holds := &hold.Table{}
			rulesOf := [...]rules{{r.Ratios.Table(), holds}, {withN4(b, 1.3), holds}}
			for _, obj := range r.podIndex.List() {
				of := obj.(*pod.Pod)
				r.ledger.planned(&plan.Plan{Pod: of.NamespacedName(), UID: of.UID, Decision: plan.Resize}, rulesOf[0], difference{}, r.clock.Now())
			}
			b.ReportAllocs()
			for i := 1; b.Loop(); i++ {
				r.enqueueAffected(rulesOf[(i+1)%2], rulesOf[i%2])
			}
			if n := r.queue.Len(); n > 0 {
				b.Fatalf("%d pods are affected", n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pods), "ns/pod")
		})
	}
}
