package benchmarks

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Speed is how many times as fast as the baseline a source says that a node type is.
type Speed struct {
	print.Spot
	// Source is who says so, and Note how far that counts, e.g. "in effect".
	Source, Note string
	// From is where a ratio of the table comes from; nil for suggestions.
	From *workloadresizerv1.Provenance
	// InEffect means that pods are sized by it.
	InEffect bool
	// Confidence is how likely the true number is in the interval; 0 without one.
	Confidence float64
}

// Text returns the number, and its interval if it has one.
func (s *Speed) Text() string {
	if !s.Ranged() {
		return print.Factor(s.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", print.Factor(s.Value), print.Factor(s.Low), print.Factor(s.High))
}

// Title returns the source with the note.
func (s *Speed) Title() string {
	if s.Note == "" {
		return s.Source
	}
	return s.Source + ", " + s.Note
}

// Speeds returns what each source says of a node type: those of its ratio in the table, which are relative to the performance of the
// baseline, and those of its suggestion. Either can be nil.
func Speeds(ratio *workloadresizerv1.Ratio, baseline float64, s *workloadresizerv1.Suggestion) (all []Speed) {
	for i, c := range ratio.GetCandidates() {
		if c.GetObserved() || baseline <= 0 {
			continue // The suggestion has it, with its interval.
		}
		speed := Speed{Spot: print.Spot{Value: c.GetCpuPerf() / baseline}, Source: print.OneLine(c.GetProvenance().GetSource()), From: c.GetProvenance(), Note: "not in effect"}
		if speed.InEffect = i == 0 && ratio.GetImplausible() == ""; speed.InEffect {
			speed.Note = "in effect"
		}
		all = append(all, speed)
	}
	suggested := func(source, note string, ratio float64, interval *workloadresizerv1.RatioInterval) {
		all = append(all, Speed{
			Spot:   print.Spot{Value: ratio, Low: interval.GetLow(), High: interval.GetHigh()},
			Source: source, Note: note, Confidence: interval.GetConfidence(),
		})
	}
	if s.GetRatio() > 0 {
		suggested("suggested by benchmarks", heldNote(s.GetHolds(), ""), s.GetRatio(), s.GetInterval())
	}
	if p := s.GetProduction(); p.GetRatio() > 0 {
		suggested("production", heldNote(p.GetHolds(), "on average"), p.GetRatio(), p.GetInterval())
		if p.GetNextInterval() != nil {
			suggested("production", "one more workload", p.GetRatio(), p.GetNextInterval())
		}
	}
	return slices.DeleteFunc(all, func(s Speed) bool { return !s.Drawn() })
}

// heldNote returns how far a suggestion counts.
func heldNote(holds []*workloadresizerv1.SuggestionHold, good string) string {
	switch {
	case len(holds) == 0:
		return good
	case good == "":
		return "held back"
	}
	return good + ", held back"
}

// ScaleOf returns a scale for speeds.
func ScaleOf(all []Speed) print.Scale {
	var spots []print.Spot
	for i := range all {
		spots = append(spots, all[i].Spot)
	}
	return print.ScaleOf(spots...)
}

// Legend returns what the marks of a scale mean; empty without an interval.
func Legend(all []Speed) string {
	at := slices.IndexFunc(all, func(s Speed) bool { return s.Ranged() && s.Confidence > 0 })
	if at < 0 {
		return ""
	}
	if slices.ContainsFunc(all, func(s Speed) bool { return s.Ranged() && s.Confidence != all[at].Confidence }) {
		return "the true number is most probably between the ends of the bar"
	}
	return fmt.Sprintf("the true number is between the ends of the bar in %.3g of 100 cases", 100*all[at].Confidence)
}

// baselineOf returns the performance of the baseline that a suggestion is relative to; 0 if that is not known.
func baselineOf(s *workloadresizerv1.Suggestion) float64 {
	switch now := s.GetCurrent(); {
	case now.GetCpuFactor() > 0:
		return now.GetCpuPerf() * now.GetCpuFactor()
	case s.GetRatio() > 0:
		return s.GetCpuPerf() / s.GetRatio()
	case s.GetProduction().GetRatio() > 0:
		return s.GetProduction().GetCpuPerf() / s.GetProduction().GetRatio()
	}
	return 0
}

// scaleWidth is how many columns the lines of a scale take. With the numbers next to them, most fit on a terminal of 100 columns.
const scaleWidth = 36

// speedLines draws what each source says of a node type on one scale; nothing if no source says anything.
func speedLines(s *workloadresizerv1.Suggestion) []string {
	all := Speeds(s.GetCurrent(), baselineOf(s), s)
	if len(all) == 0 {
		return nil
	}
	titles := 0
	for i := range all {
		titles = max(titles, utf8.RuneCountInString(all[i].Title()))
	}
	baseline := print.OneLine(s.GetBaselineNodeType())
	scale := ScaleOf(all)
	lines := []string{fmt.Sprintf("How many times as fast as %s the CPU of %s is:", baseline, print.OneLine(s.GetNodeType())), ""}
	for i := range all {
		title := all[i].Title()
		lines = append(lines, title+strings.Repeat(" ", titles-utf8.RuneCountInString(title)+2)+scale.Draw(all[i].Spot, scaleWidth)+"  "+all[i].Text())
	}
	lines = append(lines, strings.Repeat(" ", titles+2+scale.Column(1, scaleWidth))+"1 = "+baseline)
	if legend := Legend(all); legend != "" {
		lines = append(lines, "", "├──●──┤ "+legend)
	}
	return lines
}
