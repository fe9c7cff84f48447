package plans

import (
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// containerStep explains the sizes of a container.
func (f *facts) containerStep(p print.Painter, c *workloadresizerv1.ContainerPlan) string {
	var parts []string
	for _, name := range resourceNames {
		if text := f.resourceText(p, c, name); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "it requests neither cpu nor memory")
	}
	what := "Container"
	if c.GetSidecar() {
		what = "Sidecar"
	}
	return fmt.Sprintf("%s %s: %s.", what, print.OneLine(c.GetName()), strings.Join(parts, "; "))
}

// resourceText explains one resource: what its author wrote, each step from there that changes it, and the size that it gets, e.g.
// "cpu 1, limit 2 → 800m, limit 1600m (scale: × 0.8)".
func (f *facts) resourceText(p print.Painter, c *workloadresizerv1.ContainerPlan, name string) string {
	original, current, desired := amountOf(c.GetOriginal(), name), amountOf(c.GetCurrent(), name), amountOf(c.GetDesired(), name)
	if original.request == "" && current.request == "" {
		return ""
	}
	size, text, steps := original, name+" "+original.String(), 0
	if original.request == "" {
		size, text = current, fmt.Sprintf("%s %s, whose original is unknown", name, current)
	}
	for _, step := range f.GetSteps() {
		if step.GetContainer() != c.GetName() || step.GetResource() != name {
			continue
		}
		steps++
		to := amount{step.GetRequest(), step.GetLimit()}
		if to != size {
			text += " → " + p.Paint(print.ChangeStyle(size.request, to.request), to.String())
		} else if step.GetCause() == workloadresizerv1.SizeCause_SIZE_CAUSE_KEPT {
			continue
		}
		text += fmt.Sprintf(" (%s: %s)", print.OneLine(step.GetStage()), f.causeText(c, name, step))
		size = to
	}
	switch {
	case steps == 0 && desired == current && current != original && original.request != "":
		text = fmt.Sprintf("%s stays %s (original: %s)", name, current, original)
	case steps == 0 && desired == current:
		text = strings.Replace(text, name, name+" stays", 1)
	case desired != size:
		text += " → " + desired.String() + ", for one of the reasons below"
	}
	if current != desired {
		text += ", and it has " + current.String() + " now"
	}
	if why := print.OneLine(c.GetDemands()[name].GetMessage()); why != "" {
		text += ", and does not follow usage now: " + why
	}
	return text
}

// causeText says why a step gives a resource its size.
func (f *facts) causeText(c *workloadresizerv1.ContainerPlan, name string, step *workloadresizerv1.SizeStep) string {
	by, bounds := f.scale(name)
	var text string
	switch step.GetCause() {
	case workloadresizerv1.SizeCause_SIZE_CAUSE_RATIO:
		text = "× " + print.Factor(by)
	case workloadresizerv1.SizeCause_SIZE_CAUSE_DEMAND:
		text = fmt.Sprintf("%s from usage × %s", print.Demand(name, c.GetDemands()[name].GetRequest()), print.Factor(by))
	case workloadresizerv1.SizeCause_SIZE_CAUSE_ADOPTION:
		return "set by " + print.OneLine(step.GetMessage()) + ", and adopted"
	case workloadresizerv1.SizeCause_SIZE_CAUSE_NODE:
		text = "the node refuses the size that it has"
	case workloadresizerv1.SizeCause_SIZE_CAUSE_RESTORE:
		text = "as its author wrote it"
	case workloadresizerv1.SizeCause_SIZE_CAUSE_KEPT:
		text = "stays"
	}
	if message := print.OneLine(step.GetMessage()); message != "" {
		text = strings.TrimPrefix(text+", "+message, ", ")
	}
	if step.GetClamped() {
		text += ", clamped"
		if bounds != nil {
			text += " to the bounds " + print.Range(bounds)
		}
	}
	return text
}

// scale returns the factor and the bounds of a resource.
func (f *facts) scale(name string) (by float64, bounds *workloadresizerv1.QuantityRange) {
	if name == "memory" {
		return f.plan.GetMemoryFactor(), f.GetBounds().GetMemory()
	}
	return f.plan.GetCpuFactor(), f.GetBounds().GetCpu()
}

// amount is the request and the limit of one resource, as quantities; empty if there is none.
type amount struct{ request, limit string }

func amountOf(r *workloadresizerv1.Resources, name string) amount {
	return amount{r.GetRequests()[name], r.GetLimits()[name]}
}

// String returns e.g. "1Gi, limit 2Gi".
func (a amount) String() string {
	if a.limit == "" {
		return print.OrAbsent(a.request)
	}
	return print.OrAbsent(a.request) + ", limit " + a.limit
}

// resourceNames are the names of the resources, in the order in which they are shown.
var resourceNames = []string{"cpu", "memory"}

// demandText says where the demand of a container comes from: for all of its resources, or for one.
func demandText(container *workloadresizerv1.ContainerPlan) string {
	var from []string
	for _, name := range resourceNames {
		if byUsage(container.GetDemands()[name]) {
			from = append(from, name)
		}
	}
	switch demands := container.GetDemands(); {
	case len(demands) == 0:
		return print.Absent
	case len(from) == 0:
		return "author"
	case len(from) == len(demands):
		return "usage"
	}
	return "usage of " + from[0]
}

func byUsage(d *workloadresizerv1.ResourceDemand) bool {
	return d.GetSource() == workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE
}

// recorded reports whether the demand is the one that the pod was sized by, not the one that usage shows now.
func recorded(d *workloadresizerv1.ResourceDemand) bool { return byUsage(d) && d.GetRevision() == "" }

// hasDemands reports whether the rule of the pod applies usage.
func hasDemands(plan *workloadresizerv1.Plan) bool {
	return slices.ContainsFunc(plan.GetContainers(), func(c *workloadresizerv1.ContainerPlan) bool { return len(c.GetDemands()) > 0 })
}

// ignored returns why sizes do not follow usage, a line per resource.
func ignored(plan *workloadresizerv1.Plan) (lines []string) {
	for _, c := range plan.GetContainers() {
		for _, name := range resourceNames {
			if why := c.GetDemands()[name].GetMessage(); why != "" {
				lines = append(lines, fmt.Sprintf("container %s: %s does not follow usage now: %s", print.OneLine(c.GetName()), name, print.OneLine(why)))
			}
		}
	}
	return lines
}

// demandStep says what containers need on the baseline, and where that comes from; empty if all need what their author wrote.
func (f *facts) demandStep() string {
	var told []string
	for _, c := range f.plan.GetContainers() {
		for _, name := range resourceNames {
			switch d := c.GetDemands()[name]; {
			case recorded(d):
				told = append(told, fmt.Sprintf("%s %s %s from usage when the pod was sized", print.OneLine(c.GetName()), name, print.OneLine(d.GetRequest())))
			case byUsage(d):
				upper := print.OneLine(d.GetUpper())
				if print.Unbounded(name, upper) {
					upper = print.AnyAmount
				}
				told = append(told, fmt.Sprintf("%s %s %s from usage%s (wrong are requests outside of %s to %s; revision %s)", print.OneLine(c.GetName()), name,
					print.OneLine(d.GetRequest()), sharedText(name, d.GetShared()), print.OneLine(d.GetLower()), upper, print.OneLine(d.GetRevision())))
			case d != nil:
				told = append(told, fmt.Sprintf("%s %s %s from its author", print.OneLine(c.GetName()), name, print.OneLine(d.GetRequest())))
			}
		}
	}
	if len(told) == 0 {
		return ""
	}
	return "Demand: " + strings.Join(told, "; ") + "."
}

// sharedText says how a demand follows that neighbors share; empty if they do not.
func sharedText(name string, s *workloadresizerv1.SharedDemand) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(", shared with its neighbors: %s, and %.0f%% of what is missing to the peak of %s", print.Demand(name, s.GetSteady()), 100*s.GetShare(), print.Demand(name, s.GetPeak()))
}

// shareStep says what the pods on the node share, and what the scheduler sees of it; empty if they share nothing.
func (f *facts) shareStep() string {
	var told []string
	title := "Shared on the node: "
	for _, name := range resourceNames {
		s := f.GetShares()[name]
		if s == nil {
			continue
		}
		amount := func(of string) string { return print.Demand(name, of) }
		part := ""
		if s.GetShare() > 0 {
			part = fmt.Sprintf(" (%.0f%%)", 100*s.GetShare())
		}
		text := fmt.Sprintf("%s: pods need %s most of the time, and up to %s more, of which %s%s are kept; the scheduler sees %s of %s requested", name,
			amount(s.GetSteady()), amount(s.GetRest()), amount(s.GetReserve()), part, amount(s.GetRequested()), amount(s.GetAllocatable()))
		if s.GetLacks() != "" {
			text += "; the node lacks " + amount(s.GetLacks())
		}
		if s.GetAssumed() {
			title = "Shared on the node if demand.mode were apply for all pods: "
		}
		told = append(told, text)
	}
	if len(told) == 0 {
		return ""
	}
	return title + strings.Join(told, ". ") + "."
}
