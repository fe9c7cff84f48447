package loop

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// BenchmarkAffected measures how long it takes to find the affected pods after a change to
// ratios that affects none.
func BenchmarkAffected(b *testing.B) {
	for _, pods := range []int{20_000, 150_000} {
		b.Run(fmt.Sprint(pods, " pods"), func(b *testing.B) {
			nodes := make([]*corev1.Node, 200)
			for i := range nodes {
				nodes[i] = clustertest.Node(fmt.Sprint("node-", i), "n2d", "64")
			}
			r := over(b, clustertest.Thousands(b, pods, 200, nodes...), "https://127.0.0.1:1")
			holds := &hold.Table{}
			rulesOf := [...]cluster.Rules{{Table: r.Ratios.Table(), Holds: holds}, {Table: clustertest.WithN4(b, 1.3), Holds: holds}}
			for _, of := range r.Cluster.Pods("").List() {
				r.ledger.planned(&plan.Plan{Subject: plan.Subject{Pod: of.NamespacedName(), UID: of.UID}, Decision: plan.Resize}, rulesOf[0], difference{}, r.Clock.Now())
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
