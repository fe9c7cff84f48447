package main

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var suggestionColumns = []metav1.TableColumnDefinition{
	column("Node Type"), column("Current"), column("Suggested"), column("Interval"), column("Change"),
	column("Samples"), column("Machines"), column("Benchmarks"), column("Mode"), column("Held Back"),
	wideColumn("Source"), wideColumn("Ratio"), wideColumn("Applied"), wideColumn("Newest"),
}

func suggestionsTable(suggestions []*workloadresizerv1.Suggestion) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: suggestionColumns}
	for _, s := range suggestions {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			oneLine(s.GetNodeType()), currentPerf(s), factor(s.GetCpuPerf()), intervalText(s),
			changedBy(s.GetCurrent().GetCpuPerf(), s.GetCpuPerf()),
			fmt.Sprint(s.GetSamples()), fmt.Sprint(s.GetMachines()), fmt.Sprint(len(countedParts(s))),
			modeText(s.GetMode()), holdCodes(s),
			orAbsent(oneLine(s.GetCurrent().GetProvenance().GetSource())), factor(s.GetRatio()), appliedText(s.GetProgress()), timestamp(s.GetNewestTime()),
		}})
	}
	return table
}

// currentPerf is the CPU performance that is in force.
func currentPerf(s *workloadresizerv1.Suggestion) string {
	if s.GetCurrent() == nil {
		return absent
	}
	return perf(s.GetCurrent().GetCpuPerf())
}

// hasInterval tells whether there are scores enough to tell an interval.
func hasInterval(s *workloadresizerv1.Suggestion) bool { return s.GetRatioLow() < s.GetRatioHigh() }

// intervalText is the confidence interval in the unit of the table.
func intervalText(s *workloadresizerv1.Suggestion) string {
	if s.GetRatio() == 0 || !hasInterval(s) {
		return absent
	}
	unit := s.GetCpuPerf() / s.GetRatio()
	return factor(s.GetRatioLow()*unit) + " to " + factor(s.GetRatioHigh()*unit)
}

// countedParts are what the benchmarks say that count.
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
	return absent
}

// holdCodes names each reason once: a hold of the node type and one of the baseline
// can have the same.
func holdCodes(s *workloadresizerv1.Suggestion) painted {
	var codes []string
	for _, hold := range s.GetHolds() {
		if code := oneLine(hold.GetCode()); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	if len(codes) == 0 {
		return painted{text: absent}
	}
	return painted{strings.Join(codes, ","), notable}
}

// appliedText is what the benchmark source says, and where it is on its way to.
func appliedText(p *workloadresizerv1.SuggestionProgress) string {
	if p == nil {
		return absent
	}
	return shifted(factor(p.GetRatio()), factor(p.GetTarget()))
}
