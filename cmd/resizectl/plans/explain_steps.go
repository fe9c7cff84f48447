package plans

import (
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// printSteps prints the explanation, a numbered line per step.
func printSteps(o *print.Output, f *facts) error {
	p := o.Painter()
	steps := []string{f.nodeStep(), f.ruleStep(), f.baselineStep(), f.ratioStep()}
	steps = append(steps, f.sourceSteps(p)...)
	steps = append(steps, f.factorStep())
	if demand := f.demandStep(); demand != "" {
		steps = append(steps, demand)
	}
	for _, container := range f.plan.GetContainers() {
		steps = append(steps, f.containerStep(p, container))
	}
	steps = append(steps, f.objectionsStep(), f.holdsStep(), f.doneStep(p), f.nowStep(p)+f.again())
	if resumed := f.resumedStep(p); resumed != "" {
		steps = append(steps, resumed)
	}
	steps = append(steps, f.remedySteps(o)...)
	return o.Steps(steps)
}

func (f *facts) nodeStep() string {
	name := print.OneLine(f.plan.GetNamespace() + "/" + f.plan.GetPod())
	node, nodeType := print.OneLine(f.plan.GetNode()), print.OneLine(f.plan.GetNodeType())
	switch {
	case node == "":
		return fmt.Sprintf("Node: %s has no node yet.", name)
	case nodeType == "":
		return fmt.Sprintf("Node: %s runs on %s, whose type is unknown.", name, node)
	}
	return fmt.Sprintf("Node: %s runs on %s, which has type %s by its label %s.", name, node, nodeType, print.OneLine(f.plan.GetNodeTypeLabel()))
}

func (f *facts) ruleStep() string {
	if rule := f.plan.GetRule(); rule != "" {
		return fmt.Sprintf("Rule: %s applies to the pod.", print.OneLine(rule))
	}
	return "Rule: none matches the pod, so the configuration for all pods applies."
}

func (f *facts) baselineStep() string {
	if f.plan.GetBaselineNodeType() == "" {
		return "Baseline: the node type that its requests are written for is unknown."
	}
	return fmt.Sprintf("Baseline: its requests are written for %s.", print.OneLine(f.plan.GetBaselineNodeType()))
}

func (f *facts) ratioStep() string {
	nodeType := print.OneLine(f.plan.GetNodeType())
	switch {
	case f.unknown("ratio") != "":
		return "Ratio: its source is unknown: " + f.unknown("ratio")
	case nodeType == "":
		return "Ratio: there is none without a node type."
	case f.GetRatio() == nil:
		return fmt.Sprintf("Ratio: no source has one for %s.", nodeType)
	}
	text := fmt.Sprintf("Ratio: %s has cpu %s and memory %s, from %s.", nodeType, print.Perf(f.GetRatio().GetCpuPerf()), print.Perf(f.GetRatio().GetMemoryPerf()), print.Provenance(f.GetRatio().GetProvenance()))
	if end := f.GetRatio().GetExpireTime(); end != nil {
		text += " It expires at " + print.Timestamp(end) + "."
	}
	for i, other := range f.GetRatio().GetCandidates() {
		if i > 0 {
			text += fmt.Sprintf(" It overrides cpu %s and memory %s from %s.", print.Perf(other.GetCpuPerf()), print.Perf(other.GetMemoryPerf()), print.Provenance(other.GetProvenance()))
		}
	}
	return text
}

// sourceSteps names the sources whose current state is not in effect: a change in them may be what
// the user misses.
func (f *facts) sourceSteps(p print.Painter) []string {
	var steps []string
	for _, source := range f.GetSources() {
		if !source.GetHealthy() {
			steps = append(steps, "Sources: "+p.Paint(print.Red, print.SourceProblem(source))+".")
		}
	}
	return steps
}

func (f *facts) factorStep() string {
	cpu, memory := f.plan.GetCpuFactor(), f.plan.GetMemoryFactor()
	if cpu == 0 && memory == 0 {
		return "Factor: there is none without a ratio."
	}
	if f.GetRatio() == nil || f.GetBaseline() == nil {
		return fmt.Sprintf("Factor: cpu %s, memory %s.", print.Factor(cpu), print.Factor(memory))
	}
	return fmt.Sprintf("Factor: baseline / node: cpu %s / %s = %s, memory %s / %s = %s.",
		print.Perf(f.GetBaseline().GetCpuPerf()), print.Perf(f.GetRatio().GetCpuPerf()), print.Factor(cpu),
		print.Perf(f.GetBaseline().GetMemoryPerf()), print.Perf(f.GetRatio().GetMemoryPerf()), print.Factor(memory))
}

func (f *facts) objectionsStep() string {
	var told []string
	for _, reason := range f.plan.GetReasons() {
		told = append(told, print.Reason(reason))
	}
	if len(told) == 0 {
		return "Reasons: none against a resize."
	}
	return "Reasons: " + strings.Join(told, "; ") + "."
}

// whyUnknown returns an error message as the end of a step; empty if there is none.
func whyUnknown(message string) string {
	if message == "" {
		return ""
	}
	return print.OneLine(message) + "."
}

// facts are an explanation. Its steps only display it.
type facts struct {
	*workloadresizerv1.Explanation
	plan *workloadresizerv1.Plan
}

func factsOf(e *workloadresizerv1.Explanation) *facts { return &facts{e, e.GetPlan()} }

// unknown returns why a part is not known, to complete a step; empty if it is.
func (f *facts) unknown(part string) string { return whyUnknown(f.GetUnknown()[part]) }

// because reports whether the plan has one of the reasons.
func (f *facts) because(codes ...string) bool {
	return slices.ContainsFunc(f.plan.GetReasons(), func(r *workloadresizerv1.PlanReason) bool { return slices.Contains(codes, r.GetCode()) })
}

// remedySteps say what to do about each reason. They are the last steps.
func (f *facts) remedySteps(o *print.Output) []string {
	var steps []string
	for _, remedy := range f.GetRemedies() {
		steps = append(steps, "Remedy for "+print.OneLine(remedy.GetCode())+": "+o.Commands(print.Remedy(remedy.GetMessage(), nil))+".")
	}
	if f.plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE && !f.because(string(contract.WaitingForTurn)) {
		// The server retries writes that failed, and does not say so in the plan.
		steps = append(steps, o.Commands(print.Remedy("Remedy: if the pod is not resized within a minute, its events say why: `kubectl describe pod POD -n NAMESPACE`.",
			map[string]string{"POD": f.plan.GetPod(), "NAMESPACE": f.plan.GetNamespace()})))
	}
	if len(steps) == 0 {
		return []string{"Remedy: nothing needs to be done."}
	}
	return steps
}
