package main

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var impactColumns = []metav1.TableColumnDefinition{
	column("Impact On"), column("Pods"), column("CPU"), column("Memory"), column("Vetoed"),
}

var vetoColumns = []metav1.TableColumnDefinition{
	column("Namespace"), column("Pod"), column("Node"), column("Vetoed By"), wideColumn("Message"),
}

// printImpact prints what other ratios would mean for the pods: of which
// kinds how many would change, and which would but cannot.
func printImpact(w io.Writer, p painter, impact *workloadresizerv1.Impact, wide bool) error {
	total := impact.GetTotal()
	if total.GetPods() == 0 && total.GetVetoed() == 0 {
		_, err := fmt.Fprintln(w, "no pod would get another size")
		return err
	}
	table := &metav1.Table{ColumnDefinitions: impactColumns}
	add := func(name string, groups ...*workloadresizerv1.ImpactGroup) {
		for _, group := range groups {
			table.Rows = append(table.Rows, impactRow(name+oneLine(group.GetName()), group))
		}
	}
	add("all pods", total)
	add("node type ", impact.GetNodeTypes()...)
	add("namespace ", impact.GetNamespaces()...)
	if err := printTable(w, p, wide, table); err != nil {
		return err
	}
	if n := impact.GetHiddenNamespaces(); n > 0 {
		if _, err := fmt.Fprintf(w, "not shown: %s that you may not see\n", countOf(n, "namespace")); err != nil {
			return err
		}
	}
	return printVetoed(w, p, impact, wide)
}

func impactRow(name string, group *workloadresizerv1.ImpactGroup) metav1.TableRow {
	return metav1.TableRow{Cells: []any{
		name, fmt.Sprint(group.GetPods()),
		freedOrAdded(group.GetRequestDelta()["cpu"]), freedOrAdded(group.GetRequestDelta()["memory"]), vetoedText(group.GetVetoed()),
	}}
}

// printVetoed prints the pods that keep their sizes, as far as they are told.
func printVetoed(w io.Writer, p painter, impact *workloadresizerv1.Impact, wide bool) error {
	table := &metav1.Table{ColumnDefinitions: vetoColumns}
	for _, pod := range impact.GetVetoed() {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			oneLine(pod.GetNamespace()), oneLine(pod.GetPod()), orAbsent(oneLine(pod.GetNode())),
			orAbsent(oneLine(pod.GetCode())), orAbsent(oneLine(pod.GetMessage())),
		}})
	}
	if len(table.Rows) > 0 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	if err := printTable(w, p, wide, table); err != nil {
		return err
	}
	if more := impact.GetTotal().GetVetoed() - int64(len(impact.GetVetoed())); more > 0 {
		_, err := fmt.Fprintf(w, "not shown: %s more that would be vetoed\n", countOf(more, "pod"))
		return err
	}
	return nil
}

func vetoedText(pods int64) painted {
	if pods == 0 {
		return painted{text: "0"}
	}
	return painted{fmt.Sprint(pods), notable}
}
