package main

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var ratioColumns = []metav1.TableColumnDefinition{
	column("Node Type"), column("CPU"), column("Memory"), column("CPU Factor"), column("Memory Factor"), column("Source"),
	wideColumn("Author"), wideColumn("Updated"),
}

// printRatios prints a row per node type, and what holds for all of them if
// there is room.
func printRatios(w io.Writer, resp *workloadresizerv1.ListRatiosResponse, wide bool) error {
	table := &metav1.Table{ColumnDefinitions: ratioColumns}
	for _, ratio := range resp.GetRatios() {
		table.Rows = append(table.Rows, ratioRow(ratio))
	}
	if err := printTable(w, table, wide); err != nil {
		return err
	}
	if !wide {
		return nil
	}
	_, err := fmt.Fprintf(w, "bounds: cpu %s, memory %s\nrevision: %s\n",
		rangeText(resp.GetBounds().GetCpu()), rangeText(resp.GetBounds().GetMemory()), resp.GetRevision())
	return err
}

func ratioRow(ratio *workloadresizerv1.Ratio) metav1.TableRow {
	name := ratio.GetNodeType()
	if ratio.GetBaseline() {
		name += " (baseline)"
	}
	from := ratio.GetProvenance()
	return metav1.TableRow{Cells: []any{
		oneLine(name),
		perf(ratio.GetCpuPerf()), perf(ratio.GetMemoryPerf()),
		factor(ratio.GetCpuFactor()), factor(ratio.GetMemoryFactor()),
		orAbsent(oneLine(from.GetSource())), orAbsent(oneLine(from.GetAuthor())), timestamp(from.GetUpdateTime()),
	}}
}

func rangeText(r *workloadresizerv1.QuantityRange) string {
	least, most := r.GetMin(), r.GetMax()
	switch {
	case least != "" && most != "":
		return least + " to " + most
	case least != "":
		return "at least " + least
	case most != "":
		return "at most " + most
	}
	return "unbounded"
}
