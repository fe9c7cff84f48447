package pages

import (
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
	// Legend is what a bar means; empty without bars.
	Legend string
	// Verdict is what all of it means in short, and Says why nothing is suggested; one of them is empty.
	Verdict, Says string
	Problem       string
	Suggestion    []section
	Samples       []table
	// Without leads to what removing the override would change; nil if there is none.
	Without *link
}

// section is what one source says of a node type.
type section struct {
	Title string
	Notes []note
	// Impact leads to what setting its ratio would change; nil if it has none.
	Impact *link
	// Rule is YAML to add to the configuration, and RuleSays how; both are empty if there is none.
	Rule, RuleSays string
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
	// Before and After mean that the interval goes on beyond the ends of the scale.
	Before, After bool
}

// speedWidth is how wide the scale is.
const speedWidth = 320

// Width is for templates.
func (speed) Width() int { return speedWidth }

// Width is for templates, as is OneLeft, which reports whether the baseline is in the left half of the scale.
func (*ratioView) Width() int { return speedWidth }

func (v *ratioView) OneLeft() bool { return v.One < speedWidth/2 }

// Cut is for templates. It reports whether an interval goes on beyond the scale.
func (v *ratioView) Cut() bool {
	return slices.ContainsFunc(v.Speeds, func(s speed) bool { return s.Before || s.After })
}

// ratioOf returns the view of a node type; nil without a node type.
func ratioOf(o *print.Output, nodeType string, known *part[ratioTable], read part[[]*workloadresizerv1.Suggestion]) *ratioView {
	if nodeType == "" || known.Problem != "" {
		return nil
	}
	all := &known.Value
	v := &ratioView{NodeType: print.OneLine(nodeType), Problem: read.Problem, Says: "Neither benchmarks nor production suggest a ratio for it.", Empty: "No source has a ratio for it."}
	v.Ruled = slices.ContainsFunc(all.rules, func(rule *workloadresizerv1.RatioRule) bool {
		return slices.ContainsFunc(rule.GetRatios(), func(r *workloadresizerv1.Ratio) bool { return r.GetNodeType() == nodeType })
	})
	baseline := 0.0
	for _, r := range all.GetRatios() {
		if r.GetBaseline() {
			baseline, v.Baseline = r.GetCpuPerf(), print.OneLine(r.GetNodeType())
		}
	}
	s := suggestionOf(read.Value, nodeType)
	var speeds []benchmarks.Speed
	at := slices.IndexFunc(all.GetRatios(), func(r *workloadresizerv1.Ratio) bool { return r.GetNodeType() == nodeType })
	if at < 0 {
		speeds = benchmarks.Speeds(nil, baseline, s)
	} else {
		r := all.GetRatios()[at]
		speeds = benchmarks.Speeds(r, baseline, s)
		v.Without = withoutOverride(r)
		if r.GetBaseline() {
			v.Says = "It is the baseline, with which all other node types are compared."
		}
		if baseline <= 0 {
			v.Empty = "Its speed cannot be compared: the baseline has no ratio. Its own ratio is in the table above."
		}
	}
	v.Speeds, v.One = toScale(speeds)
	v.Legend = benchmarks.Legend(speeds)
	if s == nil {
		return v
	}
	v.Verdict, v.Says = firstUpper(benchmarks.Verdict(s)), ""
	for _, of := range benchmarks.SuggestionSections(o.Painter(), s)[1:] { // The first says what the table above says.
		notes := []note{}
		for _, line := range of.Lines {
			notes = append(notes, noteOf(o, firstUpper(line[0]), line[1]))
		}
		shown := section{Title: of.Title, Notes: notes, Impact: impactOf(nodeType, of.CPU, of.Memory), Rule: of.Rule}
		if of.Rule != "" {
			shown.RuleSays = benchmarks.RuleSays
		}
		v.Suggestion = append(v.Suggestion, shown)
	}
	for i, t := range benchmarks.SuggestionTables(s) {
		v.Samples = append(v.Samples, sheet([]string{"What each benchmark measured", "CPU models"}[i], t))
	}
	return v
}

// firstUpper returns text that begins with a capital letter.
func firstUpper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

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

// impactOf leads to the plans that would be made with a ratio, which somebody has to ask for: they are about all pods. It is nil without
// a ratio.
func impactOf(nodeType string, cpu, memory float64) *link {
	if cpu == 0 || memory == 0 {
		return nil
	}
	return &link{Name: "What it would change now", Path: path("/plans", url.Values{"plan": {"1"}, "ratios": {ratioArgument(nodeType, cpu, memory)}})}
}

// withoutOverride leads to the plans that would be made if the override of a ratio were removed. It is nil if there is none, or no other source
// has the ratio.
func withoutOverride(r *workloadresizerv1.Ratio) *link {
	next := afterOverride(r)
	if next == nil || r.GetCandidates()[0].GetProvenance().GetSource() != ratios.OverrideSource {
		return nil
	}
	return &link{Name: "What would change without the override", Path: path("/plans", url.Values{"plan": {"1"}, "ratios": {ratioArgument(r.GetNodeType(), next.GetCpuPerf(), next.GetMemoryPerf())}})}
}

// afterOverride returns the first ratio of a source below the overrides, which would be in effect without them; nil if there is none. Ratios that are
// only shown never are.
func afterOverride(r *workloadresizerv1.Ratio) *workloadresizerv1.RatioCandidate {
	for _, c := range r.GetCandidates() {
		if !c.GetObserved() && c.GetProvenance().GetSource() != ratios.OverrideSource {
			return c
		}
	}
	return nil
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
	title, create := "Set a ratio: change these numbers", " --create"
	known := slices.IndexFunc(listed, func(r *workloadresizerv1.Ratio) bool { return r.GetNodeType() == nodeType })
	if known >= 0 {
		title, create = "Set its ratio: change these numbers", ""
		of["RATIO"] = print.Argument(ratioArgument(nodeType, listed[known].GetCpuPerf(), listed[known].GetMemoryPerf()))
		add("See where its ratio comes from", "resizectl ratios get TYPE")
		if slices.ContainsFunc(listed[known].GetCandidates(), func(c *workloadresizerv1.RatioCandidate) bool {
			return c.GetProvenance().GetSource() == ratios.OverrideSource
		}) {
			then := "Remove its override, so that the next source is in effect again"
			if afterOverride(listed[known]) == nil {
				then = "Remove its override: no other source has a ratio for it"
			}
			add(then, "resizectl ratios delete TYPE")
		}
	}
	if s := suggestionOf(suggested, nodeType); s != nil {
		add("See what benchmarks and production suggest, and what that would change", "resizectl ratios suggest TYPE")
		if acceptable(s) {
			although := ""
			if benchmarks.Contradicted(s) {
				although = ", although production contradicts it"
			}
			add("Accept what benchmarks suggest"+although, "resizectl benchmark accept TYPE")
		}
		if cpu, _ := benchmarks.Shown(s); cpu > 0 {
			add("Accept what production shows", "resizectl benchmark accept TYPE --from production")
		}
	}
	add(title, "resizectl ratios set RATIO"+create)
	return all
}

// sheet returns a table whose rows lead nowhere.
func sheet(label string, of *metav1.Table) table {
	t := tableOf(of, true, func(row int) string { return fmt.Sprint(label, row) }, nil)
	t.Label = label
	return t
}

// toScale puts speeds on one scale, and returns where the baseline is on it.
func toScale(all []benchmarks.Speed) (speeds []speed, one float64) {
	const margin = 6
	scale := benchmarks.ScaleOf(all)
	at := func(ratio float64) float64 { return margin + (speedWidth-2*margin)*scale.At(ratio) }
	for i := range all {
		of := &all[i]
		s := speed{Name: segments(of.Title()), Text: of.Text(), Used: of.InEffect, At: at(of.Value)}
		if of.From != nil {
			s.Name = segments(print.Provenance(of.From))
		}
		if of.Ranged() {
			s.Low = at(of.Low)
			s.Wide = at(of.High) - s.Low
			s.Before, s.After = scale.Cuts(of.Spot)
		}
		speeds = append(speeds, s)
	}
	return speeds, at(1)
}
