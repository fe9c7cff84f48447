package recommend

import (
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Step is one step from usage to a target, in baseline units.
type Step struct {
	// Name is what the step does.
	Name string
	// Amounts are the amounts after the step.
	Amounts Amounts
	// Message says what the step means with these options.
	Message string
}

// Steps returns the steps by which For computes the target, in their order. It returns none if there is
// no recommendation.
func Steps(d Demand, containers int, o *Options, now time.Time) []Step {
	if d.Samples == 0 {
		return nil
	}
	cpu, memory := o.estimates(&d, now)
	target := o.stages(cpu.Target, memory.Target, containers, 1, 1)
	floor := fmt.Sprintf("at least %s: the floor of a pod, divided by %s", o.floor(containers), plural(max(containers, 1), "container"))
	steps := []Step{
		{"estimate", target.estimated, o.policy()},
		{"margin", target.padded, o.margins(containers)},
		{"floor", target.floored, floor},
	}
	if o.IntegerCPU || o.Round.CPU > 1 || o.Round.Memory > 1 {
		steps = append(steps, Step{"rounding", target.rounded, o.rounding()})
	}
	steps = append(steps, Step{"bounds", target.capped, o.bounds()})
	if r, ok := For(d, containers, o, now); ok && o.Shared.any() {
		steps = append(steps, Step{"steady", r.Parts.Steady, o.Shared.steadyText(&r.Parts)}, Step{"peak", r.Parts.Peak, o.Shared.peakText()})
	}
	return steps
}

// steadyText says what a container needs most of the time.
func (s *Shared) steadyText(p *Parts) string {
	text := "most of the time; its node's share of the rest up to the peak is added"
	if s.CPU > 0 {
		text += fmt.Sprintf("; CPU: percentile %v of the means of %d minutes", s.CPU, int(steadyCPU.Minutes()))
		if p.CPUBound {
			text += ", or the mean of the highest samples while these are not known for long enough"
		}
	}
	if s.WithMemory {
		text += fmt.Sprintf("; memory: percentile %v of the peaks of %d minutes", s.Memory, int(steadyMemory.Minutes()))
		if p.MemoryBound {
			text += ", or of days while these are not known for long enough"
		}
	}
	return text
}

// peakText says what a container needs at most.
func (s *Shared) peakText() string {
	text := "at most"
	if s.CPU > 0 {
		text += fmt.Sprintf("; CPU: percentile %v, with the time that the container waited for it", s.Peak)
	}
	if s.WithMemory {
		text += "; memory: the highest usage of seven days"
	}
	return text
}

// policy says how the estimate follows from usage.
func (o *Options) policy() string {
	if o.ByRuns {
		return o.measured() + ", at least the highest usage of memory of the last days and of the successful runs that are known"
	}
	return o.measured()
}

// measured says how the estimate follows from the policy alone.
func (o *Options) measured() string {
	percentiles := fmt.Sprintf("percentile %v of CPU and %v of the peaks of memory", o.CPU.Target, o.Memory.Target)
	switch o.Policy {
	case Pressure:
		return percentiles + ", with the time that the container waited for CPU"
	case Week:
		return percentiles + ", or the peak of this and the next hour a week ago if that is higher"
	case Peak:
		return "percentile 0.75 of CPU, with the time that the container waited for it, and the highest peak of memory"
	}
	return percentiles
}

// margins says what is added to the estimate.
func (o *Options) margins(containers int) string {
	if o.Headroom == 0 && o.MemoryMargin == o.Margin {
		return fmt.Sprintf("%.4g%% is added", 100*o.Margin)
	}
	text := fmt.Sprintf("%.4g%% is added to CPU, and %.4g%% to memory", 100*o.Margin, 100*o.MemoryMargin)
	if o.Headroom > 0 {
		text += fmt.Sprintf(", at least %s: the headroom of a pod, divided by %s", inMebibytes(o.headroom(containers)), plural(max(containers, 1), "container"))
	}
	return text
}

func (o *Options) rounding() string {
	if o.IntegerCPU {
		return fmt.Sprintf("rounded up to whole cores, and to multiples of %s", Amounts{CPU: max(o.Round.CPU, 1), Memory: max(o.Round.Memory, 1)})
	}
	return fmt.Sprintf("rounded up to multiples of %s", Amounts{CPU: max(o.Round.CPU, 1), Memory: max(o.Round.Memory, 1)})
}

func (o *Options) bounds() string {
	most := o.most()
	bound := func(least, most string) string {
		switch {
		case least == "" && most == "":
			return "any amount"
		case most == "":
			return "at least " + least
		case least == "":
			return "at most " + most
		}
		return least + " to " + most
	}
	return fmt.Sprintf("CPU: %s; memory: %s", bound(cpuText(o.Min.CPU), cpuText(most.CPU)), bound(memoryText(o.Min.Memory), memoryText(most.Memory)))
}

// Percentile returns the percentiles of the target on one node type alone, as measured.
func (o *Options) Percentile(t *history.TypeView) Amounts {
	uniform := NewDemand(history.View{Types: []history.TypeView{*t}}, Uniform)
	return estimated(estimate(uniform.CPU, o.CPU).Target, estimate(uniform.Memory, o.Memory).Target)
}
