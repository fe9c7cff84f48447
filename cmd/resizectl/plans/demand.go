package plans

import (
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

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
