package main

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var partColumns = []metav1.TableColumnDefinition{
	column("Benchmark"), column("Version"), column("Ratio"), column("Weight"), column("Samples"), column("Machines"),
	column("Baseline Samples"), column("Baseline Machines"),
}

// partsTable is what each benchmark says.
func partsTable(s *workloadresizerv1.Suggestion) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: partColumns}
	for _, part := range s.GetParts() {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			oneLine(part.GetBenchmark()), orAbsent(oneLine(part.GetVersion())), factor(part.GetRatio()), weightText(part.GetWeight()),
			fmt.Sprint(part.GetSamples()), fmt.Sprint(part.GetMachines()),
			fmt.Sprint(part.GetBaselineSamples()), fmt.Sprint(part.GetBaselineMachines()),
		}})
	}
	return table
}

// weightText is how much a benchmark counts.
func weightText(weight float64) painted {
	if weight == 0 {
		return painted{"only shown", dim}
	}
	return painted{text: factor(weight)}
}

var modelColumns = []metav1.TableColumnDefinition{column("CPU Model"), column("Ratio"), column("Machines")}

// modelsTable are the CPU models, if any is known.
func modelsTable(s *workloadresizerv1.Suggestion) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: modelColumns}
	if !slices.ContainsFunc(s.GetModels(), func(m *workloadresizerv1.SuggestionModel) bool { return m.GetCpuModel() != "" }) {
		return table
	}
	for _, model := range s.GetModels() {
		name := "not known"
		if model.GetCpuModel() != "" {
			name = oneLine(model.GetCpuModel())
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{name, factor(model.GetRatio()), fmt.Sprint(model.GetMachines())}})
	}
	return table
}

// howToAccept is the command that makes the suggestion an override, or why there
// is none.
func howToAccept(program string, s *workloadresizerv1.Suggestion) string {
	command := program + " benchmark accept " + oneLine(s.GetNodeType())
	switch {
	case s.GetCpuPerf() == 0:
		return "There is nothing to accept."
	case accepted(s):
		return "It is accepted already."
	case len(s.GetHolds()) > 0:
		return "It is held back. To accept it all the same:\n  " + command + " --force"
	}
	return "To accept it:\n  " + command
}

// accepted tells whether an override says what is suggested.
func accepted(s *workloadresizerv1.Suggestion) bool {
	now := s.GetCurrent()
	return now.GetProvenance().GetSource() == overrideSource &&
		now.GetCpuPerf() == s.GetCpuPerf() && now.GetMemoryPerf() == s.GetMemoryPerf()
}
