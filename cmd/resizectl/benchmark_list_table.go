package main

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var benchmarkColumns = []metav1.TableColumnDefinition{
	column("Node Type"), column("CPU Model"), column("Benchmark"), column("Samples"), column("Machines"),
	column("Per vCPU"), column("Spread"), column("Age"),
	wideColumn("Version"), wideColumn("Unit"), wideColumn("Outliers"),
	wideColumn("Single Thread"), wideColumn("SMT Share"), wideColumn("Spot Checks"),
}

// benchmarksTable is what was measured as of now.
func benchmarksTable(benchmarks []*workloadresizerv1.Benchmark, now time.Time) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: benchmarkColumns}
	for _, b := range benchmarks {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			oneLine(b.GetNodeType()), orAbsent(oneLine(b.GetCpuModel())), oneLine(b.GetBenchmark()),
			fmt.Sprint(b.GetSamples()), fmt.Sprint(b.GetMachines()),
			score(b.GetMedian()), percent(b.GetSpread()), age(b.GetNewestTime(), now),
			orAbsent(oneLine(b.GetVersion())), orAbsent(oneLine(b.GetUnit())), fmt.Sprint(b.GetOutliers()),
			score(b.GetSingleThreadMedian()), smtShare(b), spotChecks(b),
		}})
	}
	return table
}

// smtShare is what a vCPU keeps of what it does alone when all are busy.
func smtShare(b *workloadresizerv1.Benchmark) string {
	if b.GetSingleThreadMedian() == 0 || b.GetMedian() == 0 {
		return absent
	}
	return fmt.Sprintf("%.2f", b.GetMedian()/b.GetSingleThreadMedian())
}

func spotChecks(b *workloadresizerv1.Benchmark) string {
	if b.GetSpotChecks() == 0 {
		return absent
	}
	return fmt.Sprintf("%d at %s", b.GetSpotChecks(), score(b.GetSpotMedian()))
}
