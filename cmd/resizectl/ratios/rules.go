package ratios

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var ruleColumns = []metav1.TableColumnDefinition{
	print.Column("Rule"), print.Column("Node Type"), print.Column("CPU"), print.Column("Memory"), print.Column("CPU Factor"), print.Column("Memory Factor"), print.Column("Source"),
	print.WideColumn("CPU Bounds"), print.WideColumn("Memory Bounds"),
}

// printRules prints a row per rule and node type, in the order in which the rules
// are tried.
func printRules(w io.Writer, p print.Painter, rules []*workloadresizerv1.RatioRule, wide bool) error {
	table := &metav1.Table{ColumnDefinitions: ruleColumns}
	for _, rule := range rules {
		for _, ratio := range rule.GetRatios() {
			table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
				print.OneLine(rule.GetName()), nodeTypeText(ratio),
				print.Perf(ratio.GetCpuPerf()), print.Perf(ratio.GetMemoryPerf()),
				print.Factor(ratio.GetCpuFactor()), print.Factor(ratio.GetMemoryFactor()),
				sourceText(ratio.GetProvenance()),
				print.Range(rule.GetBounds().GetCpu()), print.Range(rule.GetBounds().GetMemory()),
			}})
		}
	}
	return print.Table(w, p, wide, table)
}
