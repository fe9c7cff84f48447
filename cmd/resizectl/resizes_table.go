package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// resizeName is what -o name prints.
func resizeName(resize *workloadresizerv1.Resize) string { return podName(resize.GetPod()) }

// resizesTable has a row per container that was sized.
func resizesTable(withNamespace bool, resizes ...*workloadresizerv1.Resize) *metav1.Table {
	t := &metav1.Table{ColumnDefinitions: resizeColumns(withNamespace, column("State"))}
	for _, resize := range resizes {
		t.Rows = append(t.Rows, resizeRows(resize, withNamespace)...)
	}
	return t
}

// resizeColumns have state as the column of states: a watch makes room for those
// that may come.
func resizeColumns(withNamespace bool, state metav1.TableColumnDefinition) []metav1.TableColumnDefinition {
	var columns []metav1.TableColumnDefinition
	if withNamespace {
		columns = append(columns, column("Namespace"))
	}
	return append(columns,
		column("Pod"), column("Container"), column("Type"), state, column("CPU"), column("Memory"), column("Sized"),
		wideColumn("Node"), wideColumn("Workload"), wideColumn("CPU Limit"), wideColumn("Memory Limit"),
		wideColumn("Actual CPU"), wideColumn("Actual Memory"), wideColumn("Message"))
}

// resizeRows are the rows of a pod; one without containers has a row too.
func resizeRows(resize *workloadresizerv1.Resize, withNamespace bool) []metav1.TableRow {
	containers := resize.GetContainers()
	if len(containers) == 0 {
		containers = []*workloadresizerv1.ResizedContainer{nil}
	}
	var rows []metav1.TableRow
	for _, container := range containers {
		var cells []any
		if withNamespace {
			cells = append(cells, oneLine(resize.GetNamespace()))
		}
		rows = append(rows, metav1.TableRow{Cells: append(cells, resizeCells(resize, container)...)})
	}
	return rows
}

func resizeCells(resize *workloadresizerv1.Resize, container *workloadresizerv1.ResizedContainer) []any {
	original, spec, actual := container.GetOriginal(), container.GetSpec(), container.GetActual()
	workload := absent
	if resize.GetWorkload() != nil {
		workload = workloadText(resize.GetWorkload())
	}
	return []any{
		oneLine(resize.GetPod()), orAbsent(oneLine(container.GetName())), orAbsent(oneLine(resize.GetNodeType())), stateText(resize.GetState()),
		change(original.GetRequests()["cpu"], spec.GetRequests()["cpu"]),
		change(original.GetRequests()["memory"], spec.GetRequests()["memory"]),
		sizedText(resize),
		orAbsent(oneLine(resize.GetNode())), workload,
		change(original.GetLimits()["cpu"], spec.GetLimits()["cpu"]),
		change(original.GetLimits()["memory"], spec.GetLimits()["memory"]),
		asked(actual, "cpu"), asked(actual, "memory"),
		orAbsent(oneLine(resize.GetMessage())),
	}
}
