package benchmarks

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// printSuggestion prints everything that is known of a suggestion. There is a table of the CPU models if any is known.
func printSuggestion(o *print.Output, resp *workloadresizerv1.GetSuggestionResponse) error {
	s := resp.GetSuggestion()
	if lines := speedLines(s); lines != nil {
		if _, err := fmt.Fprintf(o.Out, "%s\n\n", strings.Join(lines, "\n")); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(o.Out, "In short: %s\n\n", Verdict(s)); err != nil {
		return err
	}
	for i, section := range SuggestionSections(o.Painter(), s) {
		if i > 0 {
			if _, err := fmt.Fprintf(o.Out, "\n%s\n", section.Title); err != nil {
				return err
			}
		}
		if err := print.Lines(o.Out, 14, section.Lines); err != nil {
			return err
		}
		if section.Rule == "" {
			continue
		}
		if _, err := fmt.Fprintf(o.Out, "\n%s\n\n%s", RuleSays, section.Rule); err != nil {
			return err
		}
	}
	for _, t := range SuggestionTables(s) {
		if err := o.TableBelow(t); err != nil {
			return err
		}
	}
	if resp.GetImpact() == nil {
		return nil
	}
	if _, err := fmt.Fprintln(o.Out, "\nAccepting what benchmarks suggest would change:"); err != nil {
		return err
	}
	return ratios.PrintImpact(o, resp.GetImpact())
}

// SuggestionTables returns the results of the benchmarks of a suggestion, and those for each CPU model if any is known.
func SuggestionTables(s *workloadresizerv1.Suggestion) []*metav1.Table {
	all := []*metav1.Table{objects.Table(partColumns, s.GetParts()...)}
	if slices.ContainsFunc(s.GetModels(), func(m *workloadresizerv1.SuggestionModel) bool { return m.GetCpuModel() != "" }) {
		all = append(all, objects.Table(modelColumns, s.GetModels()...))
	}
	return all
}

// Section is what one source says of a node type: the title and the text of each line.
type Section struct {
	Title string
	Lines [][2]string
	// CPU and Memory are the performances to set to use what the source says; 0 if there is nothing to use.
	CPU, Memory float64
	// Rule is YAML to add to the configuration, as RuleSays says; empty if there is none.
	Rule string
}

// SuggestionSections returns what is in effect, and what each source says.
func SuggestionSections(p print.Painter, s *workloadresizerv1.Suggestion) []Section {
	all := []Section{
		{Title: "Now", Lines: [][2]string{{"node type", print.OneLine(s.GetNodeType())}, {"current", currentText(s.GetCurrent())}}},
		{Title: "What benchmarks suggest", Lines: benchmarkLines(p, s), CPU: s.GetCpuPerf(), Memory: s.GetMemoryPerf()},
	}
	if lines := productionLines(p, s); lines != nil {
		shown := Section{Title: "What production shows", Lines: lines}
		shown.CPU, shown.Memory = Shown(s)
		all = append(all, shown)
	}
	if of, some := singles(s); some {
		all = append(all, of)
	}
	return all
}

// Shown returns the performances to set to use what production shows, which knows none of memory; 0 if that is held back, or does not
// contradict the ratio in effect.
func Shown(s *workloadresizerv1.Suggestion) (cpu, memory float64) {
	p, now := s.GetProduction(), s.GetCurrent()
	if p.GetCpuPerf() == 0 || len(p.GetHolds()) > 0 || now != nil && !contradictedNow(s) {
		return 0, 0
	}
	return p.GetCpuPerf(), cmp.Or(now.GetMemoryPerf(), s.GetMemoryPerf(), 1)
}

// benchmarkLines returns the title and the text of each line about what benchmarks suggest.
func benchmarkLines(p print.Painter, s *workloadresizerv1.Suggestion) [][2]string {
	if s.GetSamples() == 0 && s.Ratio == nil && s.GetProgress() == nil {
		return [][2]string{{"suggested", "nothing: no benchmark was run on " + print.OneLine(s.GetNodeType())}}
	}
	lines := [][2]string{{"suggested", suggestedText(p, s)}, {"ratio", ratioText(s)}}
	if ends := s.GetEnds(); ends != nil {
		lines = append(lines, [2]string{"threads", fmt.Sprintf("%s with one busy thread per core, %s with all threads busy", print.Factor(ends.GetOneThread()), print.Factor(ends.GetAllThreads()))})
	}
	if s.GetSamples() > 0 {
		lines = append(lines, [2]string{"measured",
			fmt.Sprintf("%s from %s, %s to %s", print.CountOf(s.GetSamples(), "sample"), print.CountOf(s.GetMachines(), "machine"),
				print.Timestamp(s.GetOldestTime()), print.Timestamp(s.GetNewestTime()))})
	}
	return append(append(lines, heldLines(p, "held back", s.GetHolds())...), [2]string{"mode", modeInWords(s)})
}

// heldLines returns a line for each reason why a suggestion is held back.
func heldLines(p print.Painter, title string, holds []*workloadresizerv1.SuggestionHold) (lines [][2]string) {
	for _, hold := range holds {
		lines = append(lines, [2]string{title, p.Paint(print.Notable, print.OneLine(hold.GetCode())) + ": " + print.OneLine(hold.GetMessage())})
	}
	return lines
}

func currentText(r *workloadresizerv1.Ratio) string {
	if r == nil {
		return "no source names the node type"
	}
	text := fmt.Sprintf("cpu %s, memory %s, from %s", print.Perf(r.GetCpuPerf()), print.Perf(r.GetMemoryPerf()), print.Provenance(r.GetProvenance()))
	if r.GetExpireTime() != nil {
		text += ", until " + print.Timestamp(r.GetExpireTime())
	}
	return text
}

func suggestedText(p print.Painter, s *workloadresizerv1.Suggestion) string {
	if s.CpuPerf == nil {
		return "nothing"
	}
	text := "cpu " + print.Factor(s.GetCpuPerf())
	if by := changedBy(s.GetCurrent().GetCpuPerf(), s.GetCpuPerf()); by.Text != print.Absent {
		text += " (" + p.Paint(by.Style, by.Text) + ")"
	}
	return text + ", memory " + print.Perf(s.GetMemoryPerf())
}

// ratioText returns how fast the node type is, and the confidence in that.
func ratioText(s *workloadresizerv1.Suggestion) string {
	baseline := print.OneLine(s.GetBaselineNodeType())
	if s.Ratio == nil {
		return "unknown: no benchmark was run on both " + print.OneLine(s.GetNodeType()) + " and " + baseline
	}
	text := fmt.Sprintf("%s times as fast as %s", print.Factor(s.GetRatio()), baseline)
	interval := s.GetInterval()
	if interval == nil {
		return text + ", from too few scores for a confidence interval"
	}
	return text + fmt.Sprintf(", %s to %s with %.3g%% confidence", print.Factor(interval.GetLow()), print.Factor(interval.GetHigh()), 100*interval.GetConfidence())
}

// modeInWords returns what the server does with the suggestion automatically.
func modeInWords(s *workloadresizerv1.Suggestion) string {
	return followsText(s.GetMode(), s.GetProgress(), len(s.GetHolds()) > 0, benchmarkSource) +
		decidedBefore(s, s.GetProgress(), benchmarkSource)
}

// followsText returns how a source follows a suggestion.
func followsText(mode workloadresizerv1.BenchmarkMode, progress *workloadresizerv1.SuggestionProgress, held bool, source string) string {
	text := modeText(mode) + ": the suggestion is only shown"
	switch applies := mode == workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY; {
	case applies && progress == nil && held:
		text = modeText(mode) + ": the " + source + " source follows it only once it is no longer held back"
	case applies:
		text = modeText(mode) + ": the " + source + " source follows it gradually"
	case progress != nil:
		text += "; the " + source + " source returns to the other sources"
	}
	switch {
	case progress == nil:
		return text
	case progress.Ratio == nil:
		text += ", and has no ratio yet"
	case progress.GetRatio() == progress.GetTarget():
		text += ", and stays at " + print.Factor(progress.GetRatio())
	default:
		text += ", and is at " + print.Factor(progress.GetRatio())
	}
	if progress.GetTarget() != 0 && progress.GetTarget() != progress.GetRatio() {
		text += ", moving toward " + print.Factor(progress.GetTarget())
	}
	if n := progress.GetConfirmedWindows(); n > 0 {
		text += fmt.Sprintf(", confirmed by %d of %s", n, print.CountOf(int64(progress.GetNeededWindows()), "window"))
	}
	if progress.GetChangeTime() != nil {
		text += "; changed " + print.Timestamp(progress.GetChangeTime())
	}
	if progress.GetNextTime() != nil {
		text += "; next evaluation " + print.Timestamp(progress.GetNextTime())
	}
	return text
}

// decidedBefore names the source that takes precedence over one that has a ratio.
func decidedBefore(s *workloadresizerv1.Suggestion, progress *workloadresizerv1.SuggestionProgress, source string) string {
	by := s.GetCurrent().GetProvenance().GetSource()
	if progress.GetRatio() == 0 || by == "" || by == source {
		return ""
	}
	return "; " + print.OneLine(by) + " takes precedence over it"
}

// partColumns describe the result of each benchmark.
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

// howToUse returns the commands that make what is suggested an override, or why there are none.
func howToUse(s *workloadresizerv1.Suggestion) string {
	if text := howToSet(s); text != "" {
		return howToAccept(s) + "\n" + text
	}
	return howToAccept(s)
}

// howToAccept returns the command that makes what benchmarks suggest an override, or why there is none.
func howToAccept(s *workloadresizerv1.Suggestion) string {
	command := "resizectl benchmark accept " + print.OneLine(s.GetNodeType())
	switch {
	case s.GetCpuPerf() == 0:
		return "There is nothing to accept from benchmarks."
	case accepted(s):
		return "The suggestion of benchmarks is already accepted."
	case len(s.GetHolds()) > 0:
		return "The suggestion of benchmarks is held back. To accept it anyway:\n  " + command + " --force"
	case Contradicted(s):
		return "Production contradicts the suggestion of benchmarks. To accept it anyway:\n  " + command
	}
	return "To accept the suggestion of benchmarks:\n  " + command
}

// howToSet returns the command that shows what accepting what production shows would change; empty if there is nothing to accept.
func howToSet(s *workloadresizerv1.Suggestion) string {
	if cpu, _ := Shown(s); cpu == 0 {
		return ""
	}
	return "To see what the ratio that production shows would change:\n  resizectl benchmark accept " + print.OneLine(s.GetNodeType()) + " --from production --dry-run"
}

// Contradicted reports whether production contradicts what benchmarks suggest.
func Contradicted(s *workloadresizerv1.Suggestion) bool { return contradicted(s, benchmarkSource) }

// contradicted reports whether production contradicts a source.
func contradicted(s *workloadresizerv1.Suggestion, source string) bool {
	return slices.ContainsFunc(s.GetProduction().GetContradictions(), func(c *workloadresizerv1.RatioContradiction) bool { return c.GetSource() == source })
}

// contradictedNow reports whether production contradicts the ratio in effect, and not only what its source suggests next.
func contradictedNow(s *workloadresizerv1.Suggestion) bool {
	now, baseline := s.GetCurrent(), baselineOf(s)
	return slices.ContainsFunc(s.GetProduction().GetContradictions(), func(c *workloadresizerv1.RatioContradiction) bool {
		return c.GetSource() == now.GetProvenance().GetSource() && math.Abs(c.GetRatio()*baseline-now.GetCpuPerf()) <= 1e-6*now.GetCpuPerf()
	})
}

// accepted reports whether an override already has the suggested ratio.
func accepted(s *workloadresizerv1.Suggestion) bool {
	now := s.GetCurrent()
	return now.GetProvenance().GetSource() == ratios.OverrideSource &&
		now.GetCpuPerf() == s.GetCpuPerf() && now.GetMemoryPerf() == s.GetMemoryPerf()
}
