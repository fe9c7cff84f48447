package resizes

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// resizeName returns what -o name prints.
func resizeName(resize *workloadresizerv1.Resize) string { return print.PodName(resize.GetPod()) }

// resizesTable returns a table with a row per container that was sized.
func resizesTable(o *print.Output, withNamespace bool, resizes ...*workloadresizerv1.Resize) *metav1.Table {
	t := &metav1.Table{ColumnDefinitions: resizeColumns(withNamespace, print.Column("State"))}
	for _, resize := range resizes {
		t.Rows = append(t.Rows, resizeRows(o, resize, withNamespace)...)
	}
	if slices.ContainsFunc(resizes, func(r *workloadresizerv1.Resize) bool { return Demands(r) != "" }) {
		t.ColumnDefinitions = append(t.ColumnDefinitions, print.WideColumn("CPU Demand"), print.WideColumn("Memory Demand"))
		row := 0
		for _, resize := range resizes {
			for _, container := range containersOf(resize) {
				for _, name := range []string{"cpu", "memory"} {
					t.Rows[row].Cells = append(t.Rows[row].Cells, print.Demand(name, container.GetDemands()[name]))
				}
				row++
			}
		}
	}
	return t
}

// Demands returns what the containers of a pod needed according to usage when it was sized, e.g. "app cpu 480m"; empty if
// all of its sizes follow from its originals.
func Demands(resize *workloadresizerv1.Resize) string {
	var told []string
	for _, container := range resize.GetContainers() {
		for _, name := range []string{"cpu", "memory"} {
			if amount := container.GetDemands()[name]; amount != "" {
				told = append(told, print.OneLine(container.GetName()+" "+name+" "+print.Demand(name, amount)))
			}
		}
	}
	return strings.Join(told, ", ")
}

// resizeColumns uses state as the column of states: a watch makes room for states that may
// follow.
func resizeColumns(withNamespace bool, state metav1.TableColumnDefinition) []metav1.TableColumnDefinition {
	var columns []metav1.TableColumnDefinition
	if withNamespace {
		columns = append(columns, print.Column("Namespace"))
	}
	return append(columns,
		print.Column("Pod"), print.Column("Container"), print.Column("Type"), state, print.Column("CPU"), print.Column("Memory"), print.Column("Age"),
		print.WideColumn("Node"), print.WideColumn("Workload"), print.WideColumn("CPU Limit"), print.WideColumn("Memory Limit"),
		print.WideColumn("Actual CPU"), print.WideColumn("Actual Memory"), print.WideColumn("Message"))
}

// containersOf returns the containers of a pod, which have a row each; a pod without containers has a row, too.
func containersOf(resize *workloadresizerv1.Resize) []*workloadresizerv1.ResizedContainer {
	if len(resize.GetContainers()) == 0 {
		return []*workloadresizerv1.ResizedContainer{nil}
	}
	return resize.GetContainers()
}

// resizeRows returns the rows of a pod.
func resizeRows(o *print.Output, resize *workloadresizerv1.Resize, withNamespace bool) []metav1.TableRow {
	var rows []metav1.TableRow
	for _, container := range containersOf(resize) {
		var cells []any
		if withNamespace {
			cells = append(cells, print.OneLine(resize.GetNamespace()))
		}
		rows = append(rows, metav1.TableRow{Cells: append(cells, resizeCells(o, resize, container)...)})
	}
	return rows
}

func resizeCells(o *print.Output, resize *workloadresizerv1.Resize, container *workloadresizerv1.ResizedContainer) []any {
	original, spec, actual := container.GetOriginal(), container.GetSpec(), container.GetActual()
	workload := print.Absent
	if resize.GetWorkload() != nil {
		workload = print.WorkloadName(resize.GetWorkload())
	}
	return []any{
		print.OneLine(resize.GetPod()), print.OrAbsent(print.OneLine(container.GetName())), print.OrAbsent(print.OneLine(resize.GetNodeType())), State(resize.GetState()),
		print.Change(original.GetRequests()["cpu"], spec.GetRequests()["cpu"]),
		print.Change(original.GetRequests()["memory"], spec.GetRequests()["memory"]),
		sizedText(o, resize),
		print.OrAbsent(print.OneLine(resize.GetNode())), workload,
		print.Change(original.GetLimits()["cpu"], spec.GetLimits()["cpu"]),
		print.Change(original.GetLimits()["memory"], spec.GetLimits()["memory"]),
		print.Asked(actual, "cpu"), print.Asked(actual, "memory"),
		print.OrAbsent(print.OneLine(resize.GetMessage())),
	}
}
