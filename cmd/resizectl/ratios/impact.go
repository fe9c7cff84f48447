package ratios

import (
	"fmt"
	"slices"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// group is what a row is about: the pods of the cluster, a node type or a namespace.
type group struct {
	what string
	*workloadresizerv1.ImpactGroup
}

var impactColumns = []objects.Column[group]{
	objects.Cell("Impact On", func(g group) any { return g.what + print.OneLine(g.GetName()) }),
	objects.Count("Pods", group.GetPods),
	objects.Cell("CPU", func(g group) any { return print.FreedOrAdded(g.GetRequestDelta()["cpu"]) }),
	objects.Cell("Memory", func(g group) any { return print.FreedOrAdded(g.GetRequestDelta()["memory"]) }),
	objects.Cell("Vetoed", func(g group) any {
		if g.GetVetoed() == 0 {
			return "0"
		}
		return print.Cell{Text: fmt.Sprint(g.GetVetoed()), Style: print.Notable}
	}),
}

var byUsageColumn = objects.Count("By Usage", group.GetByUsage)

var vetoColumns = []objects.Column[*workloadresizerv1.VetoedPod]{
	objects.Text("Namespace", (*workloadresizerv1.VetoedPod).GetNamespace),
	objects.Text("Pod", (*workloadresizerv1.VetoedPod).GetPod),
	objects.Text("Node", (*workloadresizerv1.VetoedPod).GetNode),
	objects.Text("Vetoed By", (*workloadresizerv1.VetoedPod).GetCode),
	objects.Text("Message", (*workloadresizerv1.VetoedPod).GetMessage).Wide(),
}

// PrintImpact prints what different ratios would mean for the pods: how many of each group would
// change, and which of them would be vetoed.
func PrintImpact(o *print.Output, impact *workloadresizerv1.Impact) error {
	total := impact.GetTotal()
	if total.GetPods() == 0 && total.GetVetoed() == 0 {
		return print.Texts(o.Out, "no pod would get a different size")
	}
	groups, columns := []group{{"all pods", total}}, impactColumns
	for _, of := range impact.GetNodeTypes() {
		groups = append(groups, group{"node type ", of})
	}
	for _, of := range impact.GetNamespaces() {
		groups = append(groups, group{"namespace ", of})
	}
	if total.GetByUsage() > 0 {
		columns = append(slices.Clone(columns), byUsageColumn)
	}
	if err := o.Table(objects.Table(columns, groups...)); err != nil {
		return err
	}
	if impact.GetIncomplete() {
		if err := print.Texts(o.Out, "not shown: namespaces that you cannot see"); err != nil {
			return err
		}
	}
	if err := o.TableBelow(objects.Table(vetoColumns, impact.GetVetoed()...)); err != nil {
		return err
	}
	if more := total.GetVetoed() - int64(len(impact.GetVetoed())); more > 0 {
		return print.Texts(o.Out, fmt.Sprintf("not shown: %s that would be vetoed", print.CountOf(more, "more pod")))
	}
	return nil
}
