package benchmarks

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// RuleSays is how to use the Rule of a Section.
const RuleSays = "To size their pods by their own ratios, add this to the configuration, or its items to existing overrides:"

// singles returns the workloads for which a node type differs from what production shows on average, with rules for them; false if there are
// none.
func singles(s *workloadresizerv1.Suggestion) (Section, bool) {
	all := s.GetProduction().GetWorkloadRatios()
	if len(all) == 0 {
		return Section{}, false
	}
	of := Section{Title: "Workloads that differ", Lines: [][2]string{{"meaning", fmt.Sprintf(
		"for these workloads, %s is faster or slower than %s times %s, by more than chance is likely to explain. With a rule, their pods get their own ratio, and all others keep theirs",
		print.OneLine(s.GetNodeType()), print.Factor(s.GetProduction().GetRatio()), print.OneLine(s.GetBaselineNodeType()))}}}
	var rules strings.Builder
	for _, w := range all {
		says, rule := advice(s.GetNodeType(), w)
		text := fmt.Sprintf("%s %s in namespace %s: %s", print.OneLine(w.GetWorkload().GetKind()), print.OneLine(w.GetWorkload().GetName()), print.OneLine(w.GetNamespace()), rangeText(w.GetRatio(), w.GetInterval()))
		if says != "" {
			text += "; " + says
		}
		of.Lines = append(of.Lines, [2]string{"differs", text})
		rules.WriteString(rule)
	}
	if rules.Len() > 0 {
		of.Rule = "overrides:\n" + rules.String()
	}
	return of, true
}

// advice returns what to know of the rule for a workload, and the rule; empty if there is none.
func advice(nodeType string, w *workloadresizerv1.WorkloadRatio) (says, rule string) {
	by := print.OneLine(w.GetRule())
	switch {
	case w.GetCpuPerf() == 0 || w.GetMemoryPerf() == 0:
		return "a rule needs a ratio of the baseline first", ""
	case by != "" && hasOwn(w):
		return "its rule " + by + " already has such a ratio", ""
	case len(w.GetPodLabels()) == 0 && !w.GetWholeNamespace():
		return "no label tells its pods from others: add one to its pod template, such as app.kubernetes.io/name: " + print.OneLine(w.GetWorkload().GetName()), ""
	case by != "":
		says = "its pods have the rule " + by + ", and only the first rule that matches applies: put this one above it, and copy its other keys into it"
	}
	return says, ruleFor(nodeType, w)
}

// hasOwn reports whether the ratio in effect for a workload is within its interval.
func hasOwn(w *workloadresizerv1.WorkloadRatio) bool {
	now := w.GetCurrentCpuPerf() * w.GetRatio() / w.GetCpuPerf()
	return w.GetInterval().GetLow() <= now && now <= w.GetInterval().GetHigh()
}

// ruleFor returns an item of overrides that gives the pods of a workload its ratio. Texts are quoted: a label may be "true" or "1".
func ruleFor(nodeType string, w *workloadresizerv1.WorkloadRatio) string {
	quoted := func(text string) string { return strconv.Quote(print.OneLine(text)) }
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	match := "namespace: " + quoted(w.GetNamespace())
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(w.GetPodLabels())) {
		labels = append(labels, quoted(key)+": "+quoted(w.GetPodLabels()[key]))
	}
	if len(labels) > 0 {
		match += ", podLabel: { " + strings.Join(labels, ", ") + " }"
	}
	return fmt.Sprintf("  - name: %s\n    match: { %s }\n    nodeTypes: { %s: { cpuPerf: %s, memPerf: %s } }\n",
		quoted(w.GetWorkload().GetKind()+" "+w.GetWorkload().GetName()+" in "+w.GetNamespace()+" on "+nodeType), match, quoted(nodeType), number(w.GetCpuPerf()), number(w.GetMemoryPerf()))
}
