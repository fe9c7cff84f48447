package ratios

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var ruleColumns = []metav1.TableColumnDefinition{
	print.Column("Rule"), print.Column("Baseline"), print.Column("Node Type"), print.Column("CPU"), print.Column("Memory"), print.Column("CPU Factor"), print.Column("Memory Factor"), print.Column("Source"),
	print.WideColumn("CPU Bounds"), print.WideColumn("Memory Bounds"), print.WideColumn("Max Speed Ratio"),
}

// printRules prints the rules below the ratios.
func printRules(o *print.Output, rules []*workloadresizerv1.RatioRule) error {
	if len(rules) == 0 {
		_, err := fmt.Fprintln(o.ErrOut, "there are no rules: the same ratios apply to every pod")
		return err
	}
	if _, err := fmt.Fprintln(o.Out); err != nil {
		return err
	}
	return o.Table(rulesTable(rules))
}

// rulesTable shows what rules set, in the order in which they are tried: a row per rule and node
// type, and one for a rule that names no node type.
func rulesTable(rules []*workloadresizerv1.RatioRule) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: ruleColumns}
	for _, rule := range rules {
		ratios := rule.GetRatios()
		if len(ratios) == 0 {
			ratios = []*workloadresizerv1.Ratio{nil}
		}
		for _, ratio := range ratios {
			table.Rows = append(table.Rows, metav1.TableRow{Cells: ruleCells(rule, ratio)})
		}
	}
	return table
}

// ruleCells returns the cells of a rule and one of its ratios, which can be nil.
func ruleCells(rule *workloadresizerv1.RatioRule, ratio *workloadresizerv1.Ratio) []any {
	speed := print.Absent
	if rule.MaxSpeedRatio != nil {
		speed = print.Perf(rule.GetMaxSpeedRatio())
	}
	named := []any{print.Absent, print.Absent, print.Absent, print.Absent, print.Absent, print.Absent}
	if ratio != nil {
		named = []any{
			print.OneLine(ratio.GetNodeType()), print.Perf(ratio.GetCpuPerf()), print.Perf(ratio.GetMemoryPerf()),
			factorText(ratio, (*workloadresizerv1.Ratio).GetCpuFactor), factorText(ratio, (*workloadresizerv1.Ratio).GetMemoryFactor), sourceText(ratio.GetProvenance()),
		}
	}
	cells := append([]any{print.OneLine(rule.GetName()), print.OrAbsent(print.OneLine(rule.GetBaselineNodeType()))}, named...)
	return append(cells, ruleRange(rule.GetBounds().GetCpu()), ruleRange(rule.GetBounds().GetMemory()), speed)
}

// ruleRange returns the ends of a range that a rule replaces or, with "0", removes.
func ruleRange(r *workloadresizerv1.QuantityRange) string {
	switch {
	case r.GetMin() == "" && r.GetMax() == "":
		return print.Absent
	case r.GetMin() == "0" && r.GetMax() == "0":
		return "unbounded"
	case r.GetMin() == "0" && r.GetMax() == "":
		return "no minimum"
	case r.GetMax() == "0" && r.GetMin() == "":
		return "no maximum"
	case r.GetMin() == "0":
		return "no minimum, at most " + r.GetMax()
	case r.GetMax() == "0":
		return "at least " + r.GetMin() + ", no maximum"
	}
	return print.Range(r)
}
