package pages

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/benchmarks"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// ratioView is how fast a node type is, in the words of each source.
type ratioView struct {
	NodeType, Baseline string
	// Speeds are on one scale, on which the baseline is at One.
	Speeds []speed
	One    float64
	// Ruled means that pods of a rule have another ratio.
	Ruled bool
	// Empty is why there are no speeds, if that is so.
	Empty string
	// Says is why nothing is suggested, if that is so.
	Says       string
	Problem    string
	Suggestion []note
	Samples    []table
	// Impact leads to what accepting the suggestion would change, and Without to what removing the override would; nil if there is none.
	Impact, Without *link
}

// speed is how many times as fast as the baseline somebody says that a node type is.
type speed struct {
	Name []segment
	Text string
	// Used means that it is in effect.
	Used bool
	// At is where it is on the scale, from 0 to speedWidth, and Low and Wide are where its interval begins, and how wide that is. Without
	// an interval, Wide is 0.
	At, Low, Wide float64
	value         float64
	interval      *workloadresizerv1.RatioInterval
}

// speedWidth is how wide the scale is.
const speedWidth = 200

// Width is for templates.
func (speed) Width() int { return speedWidth }

// ratioOf returns the view of a node type; nil without a node type.
func ratioOf(o *print.Output, nodeType string, known *part[ratioTable], read part[[]*workloadresizerv1.Suggestion]) *ratioView {
	if nodeType == "" || known.Problem != "" {
		return nil
	}
	all := &known.Value
	v := &ratioView{NodeType: print.OneLine(nodeType), Problem: read.Problem, Says: "No benchmark suggests a ratio of it.", Empty: "No source has a ratio of it."}
	v.Ruled = slices.ContainsFunc(all.rules, func(rule *workloadresizerv1.RatioRule) bool {
		return slices.ContainsFunc(rule.GetRatios(), func(r *workloadresizerv1.Ratio) bool { return r.GetNodeType() == nodeType })
	})
	baseline := 0.0
	for _, r := range all.GetRatios() {
		if r.GetBaseline() {
			baseline, v.Baseline = r.GetCpuPerf(), print.OneLine(r.GetNodeType())
		}
	}
	for _, r := range all.GetRatios() {
		if r.GetNodeType() != nodeType {
			continue
		}
		if baseline <= 0 {
			v.Empty = "Its speed cannot be compared: the baseline has no ratio. Its own ratio is in the table above."
			continue
		}
		if r.GetBaseline() {
			v.Says = "It is the baseline, with which benchmarks compare all other node types."
		}
		v.Without = withoutOverride(r)
		for i, candidate := range r.GetCandidates() {
			if candidate.GetObserved() {
				continue // Suggestions have it, with its interval.
			}
			v.Speeds = append(v.Speeds, speed{
				Name: segments(print.Provenance(candidate.GetProvenance())), Used: i == 0 && r.GetImplausible() == "", value: candidate.GetCpuPerf() / baseline,
			})
		}
	}
	if s := suggestionOf(read.Value, nodeType); s != nil {
		v.Impact = impactOf(s)
		for _, line := range benchmarks.SuggestionLines(o.Painter(), s) {
			v.Suggestion = append(v.Suggestion, noteOf(o, strings.ToUpper(line[0][:1])+line[0][1:], line[1]))
		}
		for i, t := range benchmarks.SuggestionTables(s) {
			v.Samples = append(v.Samples, sheet([]string{"What each benchmark measured", "CPU models"}[i], t))
		}
		if s.GetRatio() > 0 {
			v.Speeds = append(v.Speeds, speed{Name: segments("suggested by benchmarks"), value: s.GetRatio(), interval: s.GetInterval()})
		}
		if p := s.GetProduction(); p.GetRatio() > 0 {
			v.Speeds = append(v.Speeds, speed{Name: segments("shown by production"), value: p.GetRatio(), interval: p.GetInterval()})
		}
		for _, p := range s.GetParts() {
			v.Speeds = append(v.Speeds, speed{Name: segments("benchmark " + print.OneLine(p.GetBenchmark())), value: p.GetRatio()})
		}
	}
	v.Speeds = slices.DeleteFunc(v.Speeds, func(s speed) bool { return !drawable(s.value) })
	v.One = scale(v.Speeds)
	return v
}

// drawable reports whether a number is the ratio of two speeds that a scale has room for.
func drawable(ratio float64) bool { return ratio > 0 && ratio < 1e6 }

// suggestionOf returns the suggestion for a node type; nil if there is none.
func suggestionOf(all []*workloadresizerv1.Suggestion, nodeType string) *workloadresizerv1.Suggestion {
	for _, s := range all {
		if s.GetNodeType() == nodeType {
			return s
		}
	}
	return nil
}

// acceptable reports whether there is something in a suggestion to accept.
func acceptable(s *workloadresizerv1.Suggestion) bool { return s.CpuPerf != nil && s.MemoryPerf != nil }

// impactOf leads to the plans that would be made with a suggestion, which somebody has to ask for: they are about all pods. It is nil if
// there is nothing to accept.
func impactOf(s *workloadresizerv1.Suggestion) *link {
	if !acceptable(s) {
		return nil
	}
	return &link{Name: "What it would change now", Path: path("/plans", url.Values{"plan": {"1"}, "ratios": {ratioArgument(s.GetNodeType(), s.GetCpuPerf(), s.GetMemoryPerf())}})}
}

// withoutOverride leads to the plans that would be made if the override of a ratio were removed. It is nil if there is none, or no other source
// has the ratio.
func withoutOverride(r *workloadresizerv1.Ratio) *link {
	all := r.GetCandidates()
	if len(all) < 2 || all[0].GetProvenance().GetSource() != ratios.OverrideSource {
		return nil
	}
	return &link{Name: "What would change without the override", Path: path("/plans", url.Values{"plan": {"1"}, "ratios": {ratioArgument(r.GetNodeType(), all[1].GetCpuPerf(), all[1].GetMemoryPerf())}})}
}

// ratioArgument returns the performances of a node type as commands take them.
func ratioArgument(nodeType string, cpu, memory float64) string {
	return nodeType + "=" + strconv.FormatFloat(cpu, 'g', -1, 64) + "/" + strconv.FormatFloat(memory, 'g', -1, 64)
}

// ratioActions are what a person can do about the ratio of a node type.
func ratioActions(o *print.Output, read *part[ratioTable], suggested []*workloadresizerv1.Suggestion, nodeType string) (all []action) {
	if nodeType == "" || read.Problem != "" {
		return nil
	}
	listed := read.Value.GetRatios()
	of := map[string]print.Command{"TYPE": print.Argument(nodeType), "RATIO": print.Argument(ratioArgument(nodeType, 1, 1))}
	add := func(title, format string) {
		if c := print.CommandOf(format, of); c != nil {
			all = append(all, action{title, actions(o, c)})
		}
	}
	known := slices.IndexFunc(listed, func(r *workloadresizerv1.Ratio) bool { return r.GetNodeType() == nodeType })
	if known >= 0 {
		of["RATIO"] = print.Argument(ratioArgument(nodeType, listed[known].GetCpuPerf(), listed[known].GetMemoryPerf()))
		add("See where its ratio comes from", "resizectl ratios get TYPE")
		if slices.ContainsFunc(listed[known].GetCandidates(), func(c *workloadresizerv1.RatioCandidate) bool {
			return c.GetProvenance().GetSource() == ratios.OverrideSource
		}) {
			add("Remove its override, so that the next source is in effect again", "resizectl ratios delete TYPE")
		}
	}
	if s := suggestionOf(suggested, nodeType); s != nil {
		add("See what benchmarks suggest, and what that would change", "resizectl benchmark suggest TYPE")
		if acceptable(s) {
			add("Accept the suggestion", "resizectl benchmark accept TYPE")
		}
	}
	if known >= 0 {
		add("Set its ratio: change these numbers", "resizectl ratios set RATIO")
	} else {
		add("Set a ratio: change these numbers", "resizectl ratios set RATIO --create")
	}
	return all
}

// sheet returns a table whose rows lead nowhere.
func sheet(label string, of *metav1.Table) table {
	t := tableOf(of, true, func(row int) string { return fmt.Sprint(label, row) }, nil)
	t.Label = label
	return t
}

// scale puts speeds on one scale that has room for all of them and their intervals, and for the baseline, and returns where that is.
func scale(all []speed) (one float64) {
	low, high := 1.0, 1.0
	for i := range all {
		s := &all[i]
		if !drawable(s.interval.GetLow()) || !drawable(s.interval.GetHigh()) || s.interval.GetLow() > s.interval.GetHigh() {
			s.interval = nil
		}
		low, high = min(low, s.value, cmp.Or(s.interval.GetLow(), low)), max(high, s.value, s.interval.GetHigh())
	}
	const margin = 6
	at := func(value float64) float64 {
		if high == low {
			return speedWidth / 2
		}
		return margin + (speedWidth-2*margin)*(value-low)/(high-low)
	}
	for i := range all {
		s := &all[i]
		s.Text, s.At = print.Factor(s.value), at(s.value)
		if s.interval != nil {
			s.Low = at(s.interval.GetLow())
			s.Wide = at(s.interval.GetHigh()) - s.Low
			s.Text += fmt.Sprintf(", from %s to %s with %.3g%% confidence", print.Factor(s.interval.GetLow()), print.Factor(s.interval.GetHigh()), 100*s.interval.GetConfidence())
		}
	}
	return at(1)
}
