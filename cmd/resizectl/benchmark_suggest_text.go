package main

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// printSuggestion prints everything that is known of a suggestion.
func printSuggestion(w io.Writer, p painter, resp *workloadresizerv1.GetSuggestionResponse, wide bool) error {
	if err := printLines(w, 11, suggestionLines(p, resp.GetSuggestion())); err != nil {
		return err
	}
	for _, table := range []*metav1.Table{partsTable(resp.GetSuggestion()), modelsTable(resp.GetSuggestion())} {
		if len(table.Rows) == 0 {
			continue
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := printTable(w, p, wide, table); err != nil {
			return err
		}
	}
	if resp.GetImpact() == nil {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return printImpact(w, p, resp.GetImpact(), wide)
}

func suggestionLines(p painter, s *workloadresizerv1.Suggestion) [][2]string {
	lines := [][2]string{
		{"node type", oneLine(s.GetNodeType())},
		{"current", currentText(s.GetCurrent())},
		{"suggested", suggestedText(p, s)},
		{"ratio", ratioText(s)},
		{"measured", fmt.Sprintf("%s of %s, %s to %s", countOf(s.GetSamples(), "sample"), countOf(s.GetMachines(), "machine"),
			timestamp(s.GetOldestTime()), timestamp(s.GetNewestTime()))},
	}
	for _, hold := range s.GetHolds() {
		lines = append(lines, [2]string{"held back", p.paint(notable, oneLine(hold.GetCode())) + ": " + oneLine(hold.GetMessage())})
	}
	return append(lines, [2]string{"mode", modeInWords(s)})
}

func currentText(r *workloadresizerv1.Ratio) string {
	if r == nil {
		return "no source names the node type"
	}
	text := fmt.Sprintf("cpu %s, memory %s, by %s", perf(r.GetCpuPerf()), perf(r.GetMemoryPerf()), provenanceText(r.GetProvenance()))
	if r.GetExpireTime() != nil {
		text += ", until " + timestamp(r.GetExpireTime())
	}
	return text
}

func suggestedText(p painter, s *workloadresizerv1.Suggestion) string {
	if s.GetCpuPerf() == 0 {
		return "nothing"
	}
	text := "cpu " + factor(s.GetCpuPerf())
	if by := changedBy(s.GetCurrent().GetCpuPerf(), s.GetCpuPerf()); by.text != absent {
		text += " (" + p.paint(by.style, by.text) + ")"
	}
	return text + ", memory " + perf(s.GetMemoryPerf())
}

// ratioText is how fast the node type is, and how sure that is.
func ratioText(s *workloadresizerv1.Suggestion) string {
	baseline := oneLine(s.GetBaselineNodeType())
	if s.GetRatio() == 0 {
		return "not known: no benchmark was run on both " + oneLine(s.GetNodeType()) + " and " + baseline
	}
	text := fmt.Sprintf("%s times as fast as %s", factor(s.GetRatio()), baseline)
	if !hasInterval(s) {
		return text + ", by too few scores to tell how sure that is"
	}
	return text + fmt.Sprintf(", %s to %s with %.3g%% confidence", factor(s.GetRatioLow()), factor(s.GetRatioHigh()), 100*s.GetConfidence())
}

// modeInWords says what the server does with the suggestion by itself.
func modeInWords(s *workloadresizerv1.Suggestion) string {
	progress := s.GetProgress()
	text := modeText(s.GetMode()) + ": the suggestion is only shown"
	switch {
	case s.GetMode() == workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY:
		text = modeText(s.GetMode()) + ": the benchmark source follows it calmly"
	case progress != nil:
		text += "; the benchmark source goes back to what others say"
	}
	switch {
	case progress == nil:
		return text
	case progress.GetRatio() == 0:
		text += ", and says nothing yet"
	case progress.GetRatio() == progress.GetTarget():
		text += ", and rests at " + factor(progress.GetRatio())
	default:
		text += ", and is at " + factor(progress.GetRatio())
	}
	if progress.GetTarget() != 0 && progress.GetTarget() != progress.GetRatio() {
		text += ", on its way to " + factor(progress.GetTarget())
	}
	if n := progress.GetConfirmedWindows(); n > 0 {
		text += fmt.Sprintf(", confirmed by %d of %s", n, countOf(int64(progress.GetNeededWindows()), "window"))
	}
	if progress.GetChangeTime() != nil {
		text += "; changed " + timestamp(progress.GetChangeTime())
	}
	if progress.GetNextTime() != nil {
		text += "; judged next " + timestamp(progress.GetNextTime())
	}
	return text + decidedBefore(s)
}

// decidedBefore says which source has what the benchmark source says not count.
func decidedBefore(s *workloadresizerv1.Suggestion) string {
	by := s.GetCurrent().GetProvenance().GetSource()
	if s.GetProgress().GetRatio() == 0 || by == "" || by == benchmarkSource {
		return ""
	}
	return "; " + oneLine(by) + " decides before it"
}
