package benchmarks

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var suggestionColumns = []metav1.TableColumnDefinition{
	print.Column("Node Type"), print.Column("Current"), print.Column("Suggested"), print.Column("Interval"), print.Column("Change"),
	print.Column("Samples"), print.Column("Machines"), print.Column("Benchmarks"), print.Column("Mode"), print.Column("Held Back"),
	print.WideColumn("Source"), print.WideColumn("Ratio"), print.WideColumn("One Thread"), print.WideColumn("All Threads"), print.WideColumn("Applied"), print.WideColumn("Newest"),
}

// suggestionName returns what -o name prints.
func suggestionName(s *workloadresizerv1.Suggestion) string { return "nodetype/" + s.GetNodeType() }

func suggestionsTable(o *print.Output, suggestions []*workloadresizerv1.Suggestion) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: suggestionColumns}
	for _, s := range suggestions {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			print.OneLine(s.GetNodeType()), currentPerf(s), print.Factor(s.GetCpuPerf()), intervalText(s),
			changedBy(s.GetCurrent().GetCpuPerf(), s.GetCpuPerf()),
			fmt.Sprint(s.GetSamples()), fmt.Sprint(s.GetMachines()), fmt.Sprint(len(countedParts(s))),
			modeText(s.GetMode()), holdCodes(s),
			print.OrAbsent(print.OneLine(s.GetCurrent().GetProvenance().GetSource())), print.Factor(s.GetRatio()), print.Factor(s.GetEnds().GetOneThread()), print.Factor(s.GetEnds().GetAllThreads()), appliedText(s.GetProgress()), o.Age(s.GetNewestTime()),
		}})
	}
	return table
}

// currentPerf returns the CPU performance in effect.
func currentPerf(s *workloadresizerv1.Suggestion) string {
	if s.GetCurrent() == nil {
		return print.Absent
	}
	return print.Perf(s.GetCurrent().GetCpuPerf())
}

// intervalText returns the confidence interval in the unit of the table. There is none from too few
// scores.
func intervalText(s *workloadresizerv1.Suggestion) string {
	interval := s.GetInterval()
	if interval == nil {
		return print.Absent
	}
	unit := s.GetCpuPerf() / s.GetRatio()
	return print.Factor(interval.GetLow()*unit) + " to " + print.Factor(interval.GetHigh()*unit)
}

// countedParts returns the results of the benchmarks that count.
func countedParts(s *workloadresizerv1.Suggestion) []*workloadresizerv1.SuggestionPart {
	var counted []*workloadresizerv1.SuggestionPart
	for _, part := range s.GetParts() {
		if part.GetWeight() > 0 {
			counted = append(counted, part)
		}
	}
	return counted
}

func modeText(mode workloadresizerv1.BenchmarkMode) string {
	switch mode {
	case workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE:
		return "observe"
	case workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY:
		return "apply"
	}
	return print.Absent
}

// holdCodes returns each reason once: one for the node type and one for the baseline can be
// the same.
func holdCodes(s *workloadresizerv1.Suggestion) print.Cell {
	var codes []string
	for _, hold := range s.GetHolds() {
		if code := print.OneLine(hold.GetCode()); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	if len(codes) == 0 {
		return print.Cell{Text: print.Absent}
	}
	return print.Cell{Text: strings.Join(codes, ","), Style: print.Notable}
}

// appliedText returns the ratio of the benchmark source, and the ratio that it moves toward.
func appliedText(p *workloadresizerv1.SuggestionProgress) string {
	if p == nil {
		return print.Absent
	}
	return ratios.Shifted(print.Factor(p.GetRatio()), print.Factor(p.GetTarget()))
}
