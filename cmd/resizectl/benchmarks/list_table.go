package benchmarks

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var benchmarkColumns = []metav1.TableColumnDefinition{
	print.Column("Node Type"), print.Column("CPU Model"), print.Column("Benchmark"), print.Column("Samples"), print.Column("Machines"),
	print.Column("Per vCPU"), print.Column("Spread"), print.Column("Age"),
	print.WideColumn("Version"), print.WideColumn("Unit"), print.WideColumn("Outliers"),
	print.WideColumn("Single Thread"), print.WideColumn("SMT Share"), print.WideColumn("Spot Checks"),
}

// benchmarksTable returns a table of the measurements.
func benchmarksTable(o *print.Output, benchmarks []*workloadresizerv1.Benchmark) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: benchmarkColumns}
	for _, b := range benchmarks {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			print.OneLine(b.GetNodeType()), print.OrAbsent(print.OneLine(b.GetCpuModel())), print.OneLine(b.GetBenchmark()),
			fmt.Sprint(b.GetSamples()), fmt.Sprint(b.GetMachines()),
			score(b.GetMedian()), percent(b.GetSpread()), o.Age(b.GetNewestTime()),
			print.OrAbsent(print.OneLine(b.GetVersion())), print.OrAbsent(print.OneLine(b.GetUnit())), fmt.Sprint(b.GetOutliers()),
			score(b.GetSingleThreadMedian()), smtShare(b), spotChecks(b),
		}})
	}
	return table
}

// smtShare returns the share of its score alone that a vCPU keeps when all are busy.
func smtShare(b *workloadresizerv1.Benchmark) string {
	if b.SingleThreadMedian == nil || b.GetMedian() == 0 {
		return print.Absent
	}
	return fmt.Sprintf("%.2f", b.GetMedian()/b.GetSingleThreadMedian())
}

func spotChecks(b *workloadresizerv1.Benchmark) string {
	if b.GetSpotChecks() == 0 {
		return print.Absent
	}
	return fmt.Sprintf("%d at %s", b.GetSpotChecks(), score(b.GetSpotMedian()))
}
