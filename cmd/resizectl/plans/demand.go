package plans

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// resourceNames are the names of the resources, in the order in which they are shown.
var resourceNames = []string{"cpu", "memory"}

// demandColumns follow the other columns if any rule applies usage.
var demandColumns = []metav1.TableColumnDefinition{print.Column("Demand"), print.WideColumn("CPU Demand"), print.WideColumn("Memory Demand")}

// demandCells returns the cells of one container, in the order of demandColumns.
func demandCells(container *workloadresizerv1.ContainerPlan) []any {
	cells := []any{demandText(container)}
	for _, name := range resourceNames {
		cells = append(cells, print.Demand(name, container.GetDemands()[name].GetRequest()))
	}
	return cells
}

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
				told = append(told, fmt.Sprintf("%s %s %s from usage (wrong are requests outside of %s to %s; revision %s)", print.OneLine(c.GetName()), name,
					print.OneLine(d.GetRequest()), print.OneLine(d.GetLower()), print.OneLine(d.GetUpper()), print.OneLine(d.GetRevision())))
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

// usageText explains a resource whose demand comes from usage, e.g. "480m from usage × 0.8 → 384m".
func (f *facts) usageText(p print.Painter, name string, d *workloadresizerv1.ResourceDemand, original, current, desired amount) string {
	by, bounds := f.scale(name)
	shown := fmt.Sprintf("%s × %s", print.Demand(name, d.GetRequest()), print.Factor(by))
	comes := arithmetic{amount{request: d.GetRequest()}, by, bounds, roundings[name]}
	switch why := print.OneLine(d.GetMessage()); {
	case recorded(d) && desired == current:
		return fmt.Sprintf("stays %s: usage showed %s on the baseline when the pod was sized; %s", current, print.Demand(name, d.GetRequest()), why)
	case recorded(d):
		return fmt.Sprintf("%s%s: usage showed %s on the baseline when the pod was sized; %s", desired, hasNow(current, desired), print.Demand(name, d.GetRequest()), why)
	case why != "" && desired == current:
		return fmt.Sprintf("stays %s: usage shows %s, which does not count now: %s", current, shown, why)
	case why != "":
		return fmt.Sprintf("%s: usage shows %s, which does not count now: %s", f.sizedText(p, name, original, current, desired), shown, why)
	case desired == current && f.stays() && !f.boundsUnknown() && !comes.toRequest(desired):
		return fmt.Sprintf("stays %s, for one of the reasons below (usage shows %s)", current, shown)
	case !comes.toRequest(desired) && !f.boundsUnknown():
		return fmt.Sprintf("%s, where usage shows %s%s", desired, shown, hasNow(current, desired))
	}
	text := fmt.Sprintf("%s from usage × %s → %s", print.Demand(name, d.GetRequest()), print.Factor(by), p.Paint(print.ChangeStyle(original.request, desired.request), desired.request))
	if bounds != nil {
		text += fmt.Sprintf(" (bounds: %s%s)", print.Range(bounds), atEnd(desired.request, bounds))
	}
	if desired.limit != "" {
		limit := print.Change(original.limit, desired.limit)
		text += ", limit " + p.Paint(limit.Style, limit.Text)
	}
	return text + hasNow(current, desired)
}

// scale returns the factor and the bounds of a resource.
func (f *facts) scale(name string) (by float64, bounds *workloadresizerv1.QuantityRange) {
	if name == "memory" {
		return f.plan.GetMemoryFactor(), f.bounds.GetMemory()
	}
	return f.plan.GetCpuFactor(), f.bounds.GetCpu()
}
