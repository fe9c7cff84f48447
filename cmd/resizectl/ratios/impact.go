package ratios

import (
	"fmt"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var impactColumns = []metav1.TableColumnDefinition{
	print.Column("Impact On"), print.Column("Pods"), print.Column("CPU"), print.Column("Memory"), print.Column("Vetoed"),
}

var vetoColumns = []metav1.TableColumnDefinition{
	print.Column("Namespace"), print.Column("Pod"), print.Column("Node"), print.Column("Vetoed By"), print.WideColumn("Message"),
}

// PrintImpact prints what different ratios would mean for the pods: how many of each group would
// change, and which of them would be vetoed.
func PrintImpact(w io.Writer, p print.Painter, impact *workloadresizerv1.Impact, wide bool) error {
	total := impact.GetTotal()
	if total.GetPods() == 0 && total.GetVetoed() == 0 {
		_, err := fmt.Fprintln(w, "no pod would get a different size")
		return err
	}
	table := &metav1.Table{ColumnDefinitions: impactColumns}
	if total.GetByUsage() > 0 {
		table.ColumnDefinitions = append(slices.Clone(impactColumns), print.Column("By Usage"))
	}
	add := func(name string, groups ...*workloadresizerv1.ImpactGroup) {
		for _, group := range groups {
			row := impactRow(name+print.OneLine(group.GetName()), group)
			row.Cells = row.Cells[:len(table.ColumnDefinitions)]
			table.Rows = append(table.Rows, row)
		}
	}
	add("all pods", total)
	add("node type ", impact.GetNodeTypes()...)
	add("namespace ", impact.GetNamespaces()...)
	if err := print.Table(w, p, wide, table); err != nil {
		return err
	}
	if impact.GetIncomplete() {
		if _, err := fmt.Fprintln(w, "not shown: namespaces that you cannot see"); err != nil {
			return err
		}
	}
	return printVetoed(w, p, impact, wide)
}

func impactRow(name string, group *workloadresizerv1.ImpactGroup) metav1.TableRow {
	return metav1.TableRow{Cells: []any{
		name, fmt.Sprint(group.GetPods()),
		print.FreedOrAdded(group.GetRequestDelta()["cpu"]), print.FreedOrAdded(group.GetRequestDelta()["memory"]), vetoedText(group.GetVetoed()),
		fmt.Sprint(group.GetByUsage()),
	}}
}

// printVetoed prints the pods that would keep their sizes, as far as the server lists them.
func printVetoed(w io.Writer, p print.Painter, impact *workloadresizerv1.Impact, wide bool) error {
	table := &metav1.Table{ColumnDefinitions: vetoColumns}
	for _, pod := range impact.GetVetoed() {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			print.OneLine(pod.GetNamespace()), print.OneLine(pod.GetPod()), print.OrAbsent(print.OneLine(pod.GetNode())),
			print.OrAbsent(print.OneLine(pod.GetCode())), print.OrAbsent(print.OneLine(pod.GetMessage())),
		}})
	}
	if len(table.Rows) > 0 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	if err := print.Table(w, p, wide, table); err != nil {
		return err
	}
	if more := impact.GetTotal().GetVetoed() - int64(len(impact.GetVetoed())); more > 0 {
		_, err := fmt.Fprintf(w, "not shown: %s that would be vetoed\n", print.CountOf(more, "more pod"))
		return err
	}
	return nil
}

func vetoedText(pods int64) print.Cell {
	if pods == 0 {
		return print.Cell{Text: "0"}
	}
	return print.Cell{Text: fmt.Sprint(pods), Style: print.Notable}
}
