package usage

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Steps explains what one container needs, a line per step, "Title: text".
func Steps(p print.Painter, e *workloadresizerv1.ExplainedRecommendation, currency string) ([]string, error) {
	r := e.GetRecommendation()
	steps := []string{ruleStep(r), demandStep(r)}
	steps = append(steps, print.Each(e.GetMeasured(), measuredStep)...)
	if len(e.GetMeasured()) == 0 {
		steps = append(steps, "Measured: nothing in the time that history is kept for.")
	}
	steps = append(steps, print.Each(e.GetSteps(), computedStep)...)
	if size := r.GetBaseline(); size != nil {
		steps = append(steps, targetStep(size))
		if step := sharedStep(r); step != "" {
			steps = append(steps, step)
		}
		steps = append(steps, confidenceStep(size), decreaseStep(p, size))
		steps = append(steps, leastSteps(size)...)
	} else {
		steps = append(steps, "Target: "+p.Paint(print.Notable, "unknown")+": "+whyUnknown(r)+".")
	}
	if step := withheldStep(p, r); step != "" {
		steps = append(steps, step)
	}
	if nodes := onNodes(r); nodes != "" {
		steps = append(steps, "Nodes: one container needs, as cpu/memory: "+nodes+".")
	}
	now, err := nowSteps(p, r, currency)
	return append(steps, now...), err
}

func ruleStep(r *workloadresizerv1.Recommendation) string {
	if rule := r.GetRule(); rule != "" {
		return fmt.Sprintf("Rule: %s applies to the pods.", print.OneLine(rule))
	}
	return "Rule: none matches the pods, so the configuration for all pods applies."
}

func demandStep(r *workloadresizerv1.Recommendation) string {
	switch from := r.GetDemandFrom(); from {
	case "author", "":
		return "Demand: it comes from the author, as demand.from says: the recommendation is only shown."
	case "usage":
		switch r.GetDemandMode() {
		case workloadresizerv1.DemandMode_DEMAND_MODE_APPLY:
			return "Demand: it comes from usage, as demand.from says, and pods are resized by it (demand.mode: apply)."
		case workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL:
			return "Demand: it comes from usage, as demand.from says, and pods get the size when they are created, if the server sizes pods then (demand.mode: initial)."
		}
		return "Demand: it comes from usage, as demand.from says, but the recommendation is only shown (demand.mode: observe)."
	default:
		return fmt.Sprintf("Demand: it comes from %s, as demand.from says.", print.OneLine(from))
	}
}

// measuredStep says what was measured on one node type, and whether it counts.
func measuredStep(m *workloadresizerv1.MeasuredNodeType) string {
	text := fmt.Sprintf("Measured on %s: %s of CPU", nodeTypeText(m.GetNodeType()), print.CountOf(m.GetSamples(), "sample"))
	if m.GetFirstTime() != nil {
		text += fmt.Sprintf(" from %s to %s", print.Timestamp(m.GetFirstTime()), print.Timestamp(m.GetLastTime()))
	}
	if m.GetThrottled() > 0 {
		text += fmt.Sprintf(", %s of them throttled", percent(m.GetThrottled()))
	}
	if of := m.GetPercentile(); of != nil {
		if m.GetSamples() == 0 { // It was not measured, which is not 0.
			of = &workloadresizerv1.ResourceAmounts{Memory: of.GetMemory()}
		}
		text += "; the percentile there, as measured: " + amountsText(of)
	}
	if m.CpuSpeed == nil || m.MemorySpeed == nil {
		return text + ". Its speed is unknown, so this does not count: set a ratio for the node type."
	}
	return text + fmt.Sprintf(". Its speed is %s for CPU and %s for memory, and that of the baseline is 1.", print.Factor(m.GetCpuSpeed()), print.Factor(m.GetMemorySpeed()))
}

func nodeTypeText(nodeType string) string {
	if nodeType == "" {
		return "nodes of an unknown type"
	}
	return print.OneLine(nodeType)
}

// amountsText returns amounts for people.
func amountsText(a *workloadresizerv1.ResourceAmounts) string {
	return "cpu " + print.CPU.Amount(a.GetCpu()) + ", memory " + print.Memory.Amount(a.GetMemory())
}

func computedStep(step *workloadresizerv1.RecommendationStep) string {
	name := print.OneLine(step.GetName())
	if name != "" {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	text := name
	if step.GetAmounts() != nil {
		text += ": " + amountsText(step.GetAmounts())
	}
	if step.GetMessage() != "" {
		text += ": " + print.OneLine(step.GetMessage())
	}
	return text + "."
}

func targetStep(size *workloadresizerv1.RecommendedSize) string {
	target, lower, upper := size.GetTarget(), size.GetLower(), size.GetUpper()
	text := fmt.Sprintf("Target: %s, on the baseline (requests outside of cpu %s and memory %s are wrong)",
		amountsText(target), boundsText(print.CPU, lower.GetCpu(), upper.GetCpu()), boundsText(print.Memory, lower.GetMemory(), upper.GetMemory()))
	if uncapped := size.GetUncappedTarget(); uncapped != nil && (uncapped.GetCpu() != target.GetCpu() || uncapped.GetMemory() != target.GetMemory()) {
		text += "; without the bounds in the configuration: " + amountsText(uncapped)
	}
	return text + "; used: " + amountsText(size.GetUsed()) + "."
}

// sharedStep says how the target follows that pods share with their neighbors; empty if they do not.
func sharedStep(r *workloadresizerv1.Recommendation) string {
	var told []string
	for _, of := range []print.Resource{print.CPU, print.Memory} {
		if s := r.GetBaseline().GetShared()[of.Name]; s != nil {
			told = append(told, fmt.Sprintf("%s %s most of the time, and %.0f%% of what is missing to the peak of %s; without sharing, which its limit follows, it would be %s",
				of.Name, of.Amount(s.GetSteady()), 100*s.GetShare(), of.Amount(s.GetPeak()), of.Amount(s.GetUnshared())))
		}
	}
	if len(told) == 0 {
		return ""
	}
	title := "Shared: on average over its pods, "
	if r.GetDemandFrom() == "author" || r.GetDemandMode() == workloadresizerv1.DemandMode_DEMAND_MODE_OBSERVE {
		title = "Shared if demand.mode were apply for all pods: on average over these, "
	}
	return title + strings.Join(told, "; ") + "."
}

func confidenceStep(size *workloadresizerv1.RecommendedSize) string {
	return fmt.Sprintf("History: %s for CPU and %s for memory, where 1 is one sample a minute over a day. Less history moves the bounds apart.",
		confidence(size.GetCpuConfidence()), confidence(size.GetMemoryConfidence()))
}

// decreaseStep says which requests may be lowered, and why others may not.
func decreaseStep(p print.Painter, size *workloadresizerv1.RecommendedSize) string {
	told := func(name string, may bool, why string) string {
		switch {
		case may:
			return "requests of " + name + " may be lowered to the target"
		case why == "":
			why = "too little of its history is known"
		}
		return "requests of " + name + " " + p.Paint(print.Notable, "may not be lowered") + ": " + print.OneLine(why)
	}
	return "Decrease: " + told("cpu", size.GetCpuMayDecrease(), size.GetCpuDecreaseMessage()) + "; " +
		told("memory", size.GetMemoryMayDecrease(), size.GetMemoryDecreaseMessage()) + "."
}

// leastSteps say how much memory was used at most, and which sizes have proven too small; none if neither is known.
func leastSteps(size *workloadresizerv1.RecommendedSize) (steps []string) {
	if peak := size.GetPeakMemory(); peak != "" {
		steps = append(steps, "Peak: at most "+print.Memory.Amount(peak)+" of memory were used today and in the seven days before.")
	}
	var least []string
	for _, of := range []struct {
		name string
		than *workloadresizerv1.ResourceAmounts
	}{{"requests", size.GetLeastRequests()}, {"limits", size.GetLeastLimits()}} {
		if cpu := of.than.GetCpu(); cpu != "" {
			least = append(least, of.name+" of cpu below "+print.CPU.Amount(cpu))
		}
		if memory := of.than.GetMemory(); memory != "" {
			least = append(least, of.name+" of memory below "+print.Memory.Amount(memory))
		}
	}
	if len(least) > 0 {
		steps = append(steps, "Too small: "+strings.Join(least, ", ")+": a container was killed with such a size, or it was reverted.")
	}
	return steps
}

// withheldStep says which resources are not sized by usage in any mode; empty if there are none.
func withheldStep(p print.Painter, r *workloadresizerv1.Recommendation) string {
	var told []string
	for _, of := range []struct{ name, why string }{{"cpu", r.GetCpuWithheldMessage()}, {"memory", r.GetMemoryWithheldMessage()}} {
		if of.why != "" {
			told = append(told, fmt.Sprintf("%s is %s: %s", of.name, p.Paint(print.Notable, "not sized by usage"), print.OneLine(of.why)))
		}
	}
	if len(told) == 0 {
		return ""
	}
	return "Withheld: " + strings.Join(told, "; ") + ". A withheld resource needs what its author wrote, and savings do not count its target."
}

// nowSteps says what the pods request, use and need together.
func nowSteps(p print.Painter, r *workloadresizerv1.Recommendation, currency string) ([]string, error) {
	var s sums
	if err := s.read(r.GetSums()); err != nil {
		return nil, fmt.Errorf("read the sums of container %s: %w", r.GetContainer(), err)
	}
	if s.pods == 0 {
		return []string{"Now: no pod with this container runs."}, nil
	}
	steps := []string{fmt.Sprintf("Now: requests of %s: cpu %s, memory %s; authored: cpu %s, memory %s.",
		print.CountOf(s.pods, "pod"), print.CPU.Text(s.requested.cpu), print.Memory.Text(s.requested.memory), print.CPU.Text(s.authored.cpu), print.Memory.Text(s.authored.memory))}
	if s.unknownPods > 0 {
		unknown := s.unknown()
		steps = append(steps, fmt.Sprintf("%s: %s without a recommendation, or on a node whose performance is unknown (authored: cpu %s, memory %s). Savings do not count this.",
			p.Paint(print.Notable, "Unknown"), print.CountOf(s.unknownPods, "pod"), print.CPU.Text(unknown.cpu), print.Memory.Text(unknown.memory)))
	}
	if s.known() == 0 {
		return steps, nil
	}
	saved := s.saved
	steps = append(steps, fmt.Sprintf("Would save: authored minus recommended: cpu %s - %s = %s, memory %s - %s = %s; used: cpu %s, memory %s.",
		print.CPU.Text(s.compared.cpu), print.CPU.Text(s.recommended.cpu), p.Paint(savedStyle(saved.cpu.Sign()), print.CPU.Text(saved.cpu)),
		print.Memory.Text(s.compared.memory), print.Memory.Text(s.recommended.memory), p.Paint(savedStyle(saved.memory.Sign()), print.Memory.Text(saved.memory)),
		print.CPU.Text(s.used.cpu), print.Memory.Text(s.used.memory)))
	if cost := s.cost.saved(); cost != nil {
		steps = append(steps, fmt.Sprintf("Would save a month: authored minus recommended, over %d hours: %s - %s = %s %s.", monthHours, money(*s.cost.authored), money(*s.cost.changed), money(*cost), print.OneLine(currency)))
	}
	return steps, nil
}

func whyUnknown(r *workloadresizerv1.Recommendation) string {
	if r.GetUnknownMessage() == "" {
		return "the server gave no reason"
	}
	return print.OneLine(r.GetUnknownMessage())
}

// percent returns a share as a percentage.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
