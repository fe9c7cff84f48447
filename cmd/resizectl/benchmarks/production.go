package benchmarks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// productionPerf returns what production shows in the unit of the table. It stands out if it contradicts another source.
func productionPerf(p *workloadresizerv1.ProductionSuggestion) print.Cell {
	switch {
	case p == nil || p.CpuPerf == nil && len(p.GetHolds()) == 0:
		return print.Cell{Text: print.Absent}
	case len(p.GetHolds()) > 0:
		return print.Cell{Text: "held back", Style: print.Dim}
	case len(p.GetContradictions()) > 0:
		return print.Marked(print.Factor(p.GetCpuPerf()), print.Notable)
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
	lines := [][2]string{{"production", shownText(of, print.OneLine(s.GetBaselineNodeType()))}}
	if of.Ratio != nil {
		lines = append(lines, [2]string{"compared", comparedText(of)})
	}
	for _, hold := range of.GetHolds() {
		lines = append(lines, [2]string{"held back", p.Paint(print.Notable, print.OneLine(hold.GetCode())) + ": " + print.OneLine(hold.GetMessage())})
	}
	for _, c := range of.GetContradictions() {
		lines = append(lines, [2]string{"contradicts", p.Paint(print.Notable, print.OneLine(c.GetSource())) + ": " + print.Factor(c.GetRatio()) + " lies outside of both intervals"})
	}
	follows := followsText(of.GetMode(), of.GetProgress(), len(of.GetHolds()) > 0, productionSource)
	return append(lines, [2]string{"mode", follows + decidedBefore(s, of.GetProgress(), productionSource)})
}

// productionSource is the name of the source of ratios that production shows.
const productionSource = "production"

// shownText returns how fast the node type is in production, and the confidence in that.
func shownText(of *workloadresizerv1.ProductionSuggestion, baseline string) string {
	if of.Ratio == nil {
		return "does not know yet how fast it is"
	}
	text := fmt.Sprintf("%s times as fast as %s", print.Factor(of.GetRatio()), baseline)
	if i := of.GetInterval(); i != nil {
		text += fmt.Sprintf(", %s to %s for the mean of this cluster's workloads", print.Factor(i.GetLow()), print.Factor(i.GetHigh()))
	}
	if i := of.GetNextInterval(); i != nil {
		text += fmt.Sprintf(", %s to %s for the next workload, with %.3g%% confidence", print.Factor(i.GetLow()), print.Factor(i.GetHigh()), 100*i.GetConfidence())
	}
	return text
}

// comparedText returns what was compared.
func comparedText(of *workloadresizerv1.ProductionSuggestion) string {
	text := fmt.Sprintf("%s on %s in %s", print.CountOf(of.GetWorkloads(), "workload"), print.CountOf(of.GetNodes(), "node"), print.CountOf(of.GetHours(), "hour"))
	sum := int64(0)
	var each []string
	for _, reason := range slices.Sorted(maps.Keys(of.GetHeldWorkloads())) {
		n := of.GetHeldWorkloads()[reason]
		sum += n
		each = append(each, fmt.Sprintf("%s %d", print.OneLine(reason), n))
	}
	if sum == 0 {
		return text
	}
	return text + fmt.Sprintf("; %s left out: %s", print.CountOf(sum, "workload"), strings.Join(each, ", "))
}
