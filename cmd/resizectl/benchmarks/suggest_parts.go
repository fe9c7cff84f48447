package benchmarks

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var partColumns = []metav1.TableColumnDefinition{
	print.Column("Benchmark"), print.Column("Version"), print.Column("Ratio"), print.Column("Weight"), print.Column("Samples"), print.Column("Machines"),
	print.Column("Baseline Samples"), print.Column("Baseline Machines"),
}

// partsTable returns a table with the result of each benchmark.
func partsTable(s *workloadresizerv1.Suggestion) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: partColumns}
	for _, part := range s.GetParts() {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			print.OneLine(part.GetBenchmark()), print.OrAbsent(print.OneLine(part.GetVersion())), print.Factor(part.GetRatio()), weightText(part.GetWeight()),
			fmt.Sprint(part.GetSamples()), fmt.Sprint(part.GetMachines()),
			fmt.Sprint(part.GetBaselineSamples()), fmt.Sprint(part.GetBaselineMachines()),
		}})
	}
	return table
}

// weightText returns how much a benchmark counts.
func weightText(weight float64) print.Cell {
	if weight == 0 {
		return print.Cell{Text: "only shown", Style: print.Dim}
	}
	return print.Cell{Text: print.Factor(weight)}
}

var modelColumns = []metav1.TableColumnDefinition{print.Column("CPU Model"), print.Column("Ratio"), print.Column("Machines")}

// modelsTable returns a table of the CPU models, if any is known.
func modelsTable(s *workloadresizerv1.Suggestion) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: modelColumns}
	if !slices.ContainsFunc(s.GetModels(), func(m *workloadresizerv1.SuggestionModel) bool { return m.GetCpuModel() != "" }) {
		return table
	}
	for _, model := range s.GetModels() {
		name := "unknown"
		if model.GetCpuModel() != "" {
			name = print.OneLine(model.GetCpuModel())
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{name, print.Factor(model.GetRatio()), fmt.Sprint(model.GetMachines())}})
	}
	return table
}

// howToAccept returns the command that makes the suggestion an override, or why there is
// none.
func howToAccept(s *workloadresizerv1.Suggestion) string {
	command := "resizectl benchmark accept " + print.OneLine(s.GetNodeType())
	switch {
	case s.GetCpuPerf() == 0:
		return "There is nothing to accept."
	case accepted(s):
		return "It is already accepted."
	case len(s.GetHolds()) > 0:
		return "It is held back. To accept it anyway:\n  " + command + " --force"
	}
	return "To accept it:\n  " + command
}

// accepted reports whether an override already has the suggested ratio.
func accepted(s *workloadresizerv1.Suggestion) bool {
	now := s.GetCurrent()
	return now.GetProvenance().GetSource() == ratios.OverrideSource &&
		now.GetCpuPerf() == s.GetCpuPerf() && now.GetMemoryPerf() == s.GetMemoryPerf()
}
