package nodes

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// node is what a row is about.
type node = *workloadresizerv1.NodeSummary

func kind(o *print.Output) objects.Kind[node, node] {
	columns := []objects.Column[node]{
		objects.Text("Name", node.GetName),
		objects.Cell("Status", func(n node) any { return status(n) }),
		objects.Text("Type", node.GetNodeType),
		objects.Cell("Factor", func(n node) any { return factor(n) }),
		objects.Count("Pods", node.GetPods),
		objects.Cell("Unknown", func(n node) any {
			if n.GetUnknownPods() == 0 {
				return print.Absent
			}
			return print.Cell{Text: fmt.Sprint(n.GetUnknownPods()), Style: print.Notable}
		}).IfAny(),
	}
	var amounts []objects.Column[node]
	for _, r := range []print.Resource{print.CPU, print.Memory} {
		columns = append(columns,
			ofResource(r, "", func(_ node, s *workloadresizerv1.NodeShare) any {
				return print.Percent(s.GetRequested(), s.GetAllocatable()) + " of " + r.Amount(s.GetAllocatable())
			}),
			usedOf(r, " Used", func(used string, s *workloadresizerv1.NodeShare) string {
				return print.Percent(used, s.GetAllocatable())
			}),
			sharedOf(r, " Share", func(s *workloadresizerv1.NodeShare) string { return fmt.Sprintf("%.0f%%", 100*s.GetShare()) }),
			ofResource(r, " Lacks", func(_ node, s *workloadresizerv1.NodeShare) any {
				if s.GetLacks() == "" {
					return print.Absent
				}
				return print.Cell{Text: r.Amount(s.GetLacks()), Style: print.Notable}
			}).IfAny())
		amounts = append(amounts,
			ofResource(r, " Requested", func(_ node, s *workloadresizerv1.NodeShare) any { return r.Amount(s.GetRequested()) }).Wide(),
			usedOf(r, " In Use", func(used string, _ *workloadresizerv1.NodeShare) string { return r.Amount(used) }).Wide(),
			sharedOf(r, " Steady", func(s *workloadresizerv1.NodeShare) string { return r.Amount(s.GetSteady()) }).Wide(),
			sharedOf(r, " Rest", func(s *workloadresizerv1.NodeShare) string { return r.Amount(s.GetRest()) }).Wide(),
			sharedOf(r, " Reserve", func(s *workloadresizerv1.NodeShare) string { return r.Amount(s.GetReserve()) }).Wide())
	}
	columns = append(append(columns, objects.Cell("Age", func(n node) any { return o.Age(n.GetCreateTime()) })), amounts...)
	columns = append(columns, objects.Text("Overload", node.GetOverload).Wide().IfAny())
	return objects.Kind[node, node]{
		Name: func(n node) string { return "node/" + n.GetName() },
		Rows: objects.Itself[node], Columns: columns,
	}
}

// ofResource is a column about a resource of a node.
func ofResource(r print.Resource, header string, of func(node, *workloadresizerv1.NodeShare) any) objects.Column[node] {
	return objects.Cell(r.Title+header, func(n node) any { return of(n, n.GetResources()[r.Name]) })
}

// usedOf is a column about what pods use of a resource, if that is known of any pod. The server may use no sources of usage.
func usedOf(r print.Resource, header string, of func(used string, s *workloadresizerv1.NodeShare) string) objects.Column[node] {
	return ofResource(r, header, func(n node, s *workloadresizerv1.NodeShare) any {
		if n.GetUsed() == nil || n.GetPods() > 0 && n.GetPods() == n.GetUnknownPods() {
			return print.Absent
		}
		return of(r.Of(n.GetUsed()), s)
	}).IfAny()
}

// sharedOf is a column about a resource that the pods of some nodes share. Pods without a rest share nothing.
func sharedOf(r print.Resource, header string, of func(*workloadresizerv1.NodeShare) string) objects.Column[node] {
	return ofResource(r, header, func(_ node, s *workloadresizerv1.NodeShare) any {
		if print.Percent(s.GetReserve(), s.GetRest()) == print.Absent {
			return print.Absent
		}
		return of(s)
	}).IfAny()
}

// status is what kubectl calls the status of a node, and whether it is overloaded.
func status(n node) print.Cell {
	cell := print.Cell{Text: "Ready"}
	if !n.GetReady() {
		cell = print.Cell{Text: "NotReady", Style: print.Red}
	}
	for _, c := range []struct {
		holds bool
		word  string
	}{{n.GetUnschedulable(), "SchedulingDisabled"}, {n.GetOverload() != "", "Overloaded"}} {
		if c.holds {
			cell.Text += "," + c.word
			if cell.Style == print.Plain {
				cell.Style = print.Notable
			}
		}
	}
	return cell
}

// factor returns the factors of cpu and memory. Without them, pods are not resized.
func factor(n node) any {
	if n.CpuFactor == nil {
		return print.Cell{Text: print.Absent, Style: print.Notable}
	}
	return print.Factor(n.GetCpuFactor()) + "/" + print.Factor(n.GetMemoryFactor())
}
