package benchmarks

import (
	"cmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// partColumns are those of the result of each benchmark.
var partColumns = []objects.Column[*workloadresizerv1.SuggestionPart]{
	objects.Cell("Benchmark", func(p *workloadresizerv1.SuggestionPart) any { return print.OneLine(p.GetBenchmark()) }),
	objects.Text("Version", (*workloadresizerv1.SuggestionPart).GetVersion),
	objects.Cell("Ratio", func(p *workloadresizerv1.SuggestionPart) any { return print.Factor(p.GetRatio()) }),
	objects.Cell("Weight", func(p *workloadresizerv1.SuggestionPart) any {
		if p.GetWeight() == 0 {
			return print.Cell{Text: "only shown", Style: print.Dim}
		}
		return print.Factor(p.GetWeight())
	}),
	objects.Count("Samples", (*workloadresizerv1.SuggestionPart).GetSamples),
	objects.Count("Machines", (*workloadresizerv1.SuggestionPart).GetMachines),
	objects.Count("Baseline Samples", (*workloadresizerv1.SuggestionPart).GetBaselineSamples),
	objects.Count("Baseline Machines", (*workloadresizerv1.SuggestionPart).GetBaselineMachines),
}

var modelColumns = []objects.Column[*workloadresizerv1.SuggestionModel]{
	objects.Cell("CPU Model", func(m *workloadresizerv1.SuggestionModel) any {
		return cmp.Or(print.OneLine(m.GetCpuModel()), "unknown")
	}),
	objects.Cell("Ratio", func(m *workloadresizerv1.SuggestionModel) any { return print.Factor(m.GetRatio()) }),
	objects.Count("Machines", (*workloadresizerv1.SuggestionModel).GetMachines),
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
