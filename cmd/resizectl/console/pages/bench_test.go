package pages

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/live"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/rows"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// BenchmarkOrder shows the first workloads of 10,000 in another order, as the browser gets them.
func BenchmarkOrder(b *testing.B) {
	var list []rows.Workload
	for i := range 10_000 {
		amounts := func(cpu, memory int) *workloadresizerv1.ResourceAmounts {
			return &workloadresizerv1.ResourceAmounts{Cpu: fmt.Sprintf("%dm", cpu), Memory: fmt.Sprintf("%dMi", memory)}
		}
		list = append(list, &workloadresizerv1.WorkloadSummary{
			Savings: &workloadresizerv1.Savings{
				Namespace: fmt.Sprintf("team-%03d", i%200), Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: fmt.Sprintf("service-%05d", i)}, Pods: int64(i % 17),
				Authored: amounts(1000, 1024), Requested: amounts(i%999, 1024), Saved: amounts(i%99, 0), Used: amounts(400, 700),
			},
			Recommended: amounts(500, 800),
			Pods:        []*workloadresizerv1.PodCount{{Decision: workloadresizerv1.Decision_DECISION_ALIGNED, Code: "AlreadyAligned", Pods: int64(i % 17)}},
		})
	}
	all := rows.New(list)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		view := workloadsView(part[*rows.Table]{Value: all}, rows.Query{Order: workloadOrders[i%2], Descending: true})
		var text bytes.Buffer
		if err := templates["workloads"].ExecuteTemplate(&text, "region", region{View: view}); err != nil {
			b.Fatal(err)
		}
		if _, err := live.Tree(text.String()); err != nil {
			b.Fatal(err)
		}
	}
}

var workloadOrders = []string{"pods", "requested_cpu"}
