package ratios

import (
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// named is what a row is about: a rule and one of its ratios, which can be nil.
type named struct {
	*workloadresizerv1.RatioRule
	ratio *workloadresizerv1.Ratio
}

// column returns a column about the ratio; it says nothing if there is none.
func ratioColumn(header string, cell func(*workloadresizerv1.Ratio) any) objects.Column[named] {
	return objects.Cell(header, func(n named) any {
		if n.ratio == nil {
			return print.Absent
		}
		return cell(n.ratio)
	})
}

var ruleColumns = []objects.Column[named]{
	objects.Cell("Rule", func(n named) any { return print.OneLine(n.GetName()) }),
	objects.Text("Baseline", named.GetBaselineNodeType),
	ratioColumn("Node Type", func(r *workloadresizerv1.Ratio) any { return print.OneLine(r.GetNodeType()) }),
	ratioColumn("CPU", func(r *workloadresizerv1.Ratio) any { return print.Perf(r.GetCpuPerf()) }),
	ratioColumn("Memory", func(r *workloadresizerv1.Ratio) any { return print.Perf(r.GetMemoryPerf()) }),
	ratioColumn("CPU Factor", func(r *workloadresizerv1.Ratio) any { return factorText(r, (*workloadresizerv1.Ratio).GetCpuFactor) }),
	ratioColumn("Memory Factor", func(r *workloadresizerv1.Ratio) any { return factorText(r, (*workloadresizerv1.Ratio).GetMemoryFactor) }),
	ratioColumn("Source", func(r *workloadresizerv1.Ratio) any { return sourceText(r.GetProvenance()) }),
	objects.Cell("CPU Bounds", func(n named) any { return ruleRange(n.GetBounds().GetCpu()) }).Wide(),
	objects.Cell("Memory Bounds", func(n named) any { return ruleRange(n.GetBounds().GetMemory()) }).Wide(),
	objects.Cell("Max Speed Ratio", func(n named) any {
		if n.MaxSpeedRatio == nil {
			return print.Absent
		}
		return print.Perf(n.GetMaxSpeedRatio())
	}).Wide(),
}

// printRules prints below the ratios what rules set, in the order in which they are tried: a row per rule and
// node type, and one for a rule that names no node type.
func printRules(o *print.Output, rules []*workloadresizerv1.RatioRule) error {
	if len(rules) == 0 {
		return print.Texts(o.ErrOut, "there are no rules: the same ratios apply to every pod")
	}
	var rows []named
	for _, rule := range rules {
		if len(rule.GetRatios()) == 0 {
			rows = append(rows, named{rule, nil})
		}
		for _, ratio := range rule.GetRatios() {
			rows = append(rows, named{rule, ratio})
		}
	}
	return o.TableBelow(objects.Table(ruleColumns, rows...))
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
