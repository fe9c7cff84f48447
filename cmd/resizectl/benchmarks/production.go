package benchmarks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/production/why"
)

// productionSource is the name of the source of ratios that production shows.
const productionSource = "production"

// productionPerf returns what production shows in the unit of the table, or why that is held back. It stands out, and says so, if it
// contradicts another source.
func productionPerf(p *workloadresizerv1.ProductionSuggestion) print.Cell {
	switch {
	case p == nil || p.CpuPerf == nil && len(p.GetHolds()) == 0:
		return print.Cell{Text: print.Absent}
	case p.CpuPerf == nil:
		return print.Cell{Text: "not known: " + strings.Join(codesOf(p.GetHolds()), ","), Style: print.Dim}
	case len(p.GetHolds()) > 0:
		return print.Cell{Text: "held back: " + strings.Join(codesOf(p.GetHolds()), ","), Style: print.Dim}
	case len(p.GetContradictions()) > 0:
		return print.Marked(print.Factor(p.GetCpuPerf())+", contradicts "+strings.Join(print.Each(p.GetContradictions(), func(c *workloadresizerv1.RatioContradiction) string {
			return print.OneLine(c.GetSource())
		}), ", "), print.Notable)
	}
	return print.Cell{Text: print.Factor(p.GetCpuPerf())}
}

// productionInterval returns the interval for this cluster in the unit of the table.
func productionInterval(p *workloadresizerv1.ProductionSuggestion) string {
	interval := p.GetInterval()
	if interval == nil || p.GetRatio() == 0 {
		return print.Absent
	}
	unit := p.GetCpuPerf() / p.GetRatio()
	return print.Factor(interval.GetLow()*unit) + " to " + print.Factor(interval.GetHigh()*unit)
}

// productionLines returns the title and the text of each line about what production shows.
func productionLines(p print.Painter, s *workloadresizerv1.Suggestion) [][2]string {
	of := s.GetProduction()
	if of == nil {
		return nil
	}
	var lines [][2]string
	add := func(title, text string) { lines = append(lines, [2]string{title, text}) }
	switch {
	case of.Ratio == nil && of.GetStartTime() == nil:
		add("ratio", "not known yet")
	case of.Ratio == nil:
		add("ratio", "not known yet: replicas are watched since "+print.Timestamp(of.GetStartTime()))
	default:
		add("ratio", fmt.Sprintf("%s times as fast as %s for the workloads in this cluster, on average", rangeText(of.GetRatio(), of.GetInterval()), print.OneLine(s.GetBaselineNodeType())))
		if i := of.GetNextInterval(); i != nil {
			add("one more", fmt.Sprintf("%s to %s times as fast for one more workload, which was not compared", print.Factor(i.GetLow()), print.Factor(i.GetHigh())))
		}
		add("compared", comparedText(of))
	}
	for _, reason := range notCounted(of) {
		add("not counted", reason.text(p))
	}
	title := "held back"
	if of.Ratio == nil {
		title = "missing"
	}
	lines = append(lines, heldLines(p, title, of.GetHolds())...)
	for _, c := range of.GetContradictions() {
		add("contradicts", p.Paint(print.Notable, print.OneLine(c.GetSource()))+": "+print.Factor(c.GetRatio())+" is outside of what is likely, on average and for one more workload")
	}
	add("mode", followsText(of.GetMode(), of.GetProgress(), len(of.GetHolds()) > 0, productionSource)+decidedBefore(s, of.GetProgress(), productionSource))
	if of.GetEvaluationTime() != nil {
		add("newest hour", print.Timestamp(of.GetEvaluationTime()))
	}
	return lines
}

// rangeText returns a ratio with its interval.
func rangeText(ratio float64, i *workloadresizerv1.RatioInterval) string {
	if i == nil {
		return print.Factor(ratio)
	}
	return fmt.Sprintf("%s (%s to %s)", print.Factor(ratio), print.Factor(i.GetLow()), print.Factor(i.GetHigh()))
}

// comparedText returns what was compared. The hours of all workloads together are more than anybody has waited, so it shows their mean.
func comparedText(of *workloadresizerv1.ProductionSuggestion) string {
	text := fmt.Sprintf("%s on %s", print.CountOf(of.GetWorkloads(), "workload"), print.CountOf(of.GetNodes(), "node"))
	if of.GetWorkloads() == 0 || of.GetHours() == 0 {
		return text
	}
	hours := print.CountOf(max(of.GetHours()/of.GetWorkloads(), 1), "busy hour")
	if of.GetWorkloads() == 1 {
		return text + ", in " + hours
	}
	return text + ", each in about " + hours
}

// uncounted is how many workloads do not count for a reason.
type uncounted struct {
	code      string
	workloads int64
}

// notCounted returns the workloads that do not count, most first.
func notCounted(of *workloadresizerv1.ProductionSuggestion) (all []uncounted) {
	for code, n := range of.GetHeldWorkloads() {
		if n > 0 {
			all = append(all, uncounted{code, n})
		}
	}
	slices.SortFunc(all, func(a, b uncounted) int {
		return cmp.Or(cmp.Compare(b.workloads, a.workloads), cmp.Compare(a.code, b.code))
	})
	return all
}

// text says in a sentence why workloads do not count, and what to do about it.
func (u uncounted) text(p print.Painter) string {
	words, known := why.NotCounted[u.code]
	code := p.Paint(print.Dim, print.OneLine(u.code))
	switch {
	case !known: // A newer server has more reasons.
		return print.CountOf(u.workloads, "workload") + ": " + code
	case u.workloads == 1:
		return "1 workload " + words.One + " (" + code + "): " + print.Remedy(words.Do, nil)
	}
	return print.CountOf(u.workloads, "workload") + " " + words.Many + " (" + code + "): " + print.Remedy(words.Do, nil)
}
