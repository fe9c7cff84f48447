package main

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var ruleColumns = []metav1.TableColumnDefinition{
	column("Rule"), column("Node Type"), column("CPU"), column("Memory"), column("CPU Factor"), column("Memory Factor"), column("Source"),
	wideColumn("CPU Bounds"), wideColumn("Memory Bounds"),
}

// printRules prints a row per rule and node type, in the order in which the rules
// are tried.
func printRules(w io.Writer, p painter, rules []*workloadresizerv1.RatioRule, wide bool) error {
	table := &metav1.Table{ColumnDefinitions: ruleColumns}
	for _, rule := range rules {
		for _, ratio := range rule.GetRatios() {
			table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
				oneLine(rule.GetName()), nodeTypeText(ratio),
				perf(ratio.GetCpuPerf()), perf(ratio.GetMemoryPerf()),
				factor(ratio.GetCpuFactor()), factor(ratio.GetMemoryFactor()),
				sourceText(ratio.GetProvenance()),
				rangeText(rule.GetBounds().GetCpu()), rangeText(rule.GetBounds().GetMemory()),
			}})
		}
	}
	return printTable(w, p, wide, table)
}
