package main

import (
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var ratioColumns = []metav1.TableColumnDefinition{
	column("Node Type"), column("CPU"), column("Memory"), column("CPU Factor"), column("Memory Factor"), column("Source"),
	wideColumn("Author"), wideColumn("Updated"), wideColumn("Expires"), wideColumn("Reason"), wideColumn("Other Sources"),
}

// overrideSource is the source that "ratios set" writes to.
const overrideSource = "override"

// printRatios prints a row per node type, and what holds for all of them if
// there is room.
func printRatios(w io.Writer, p painter, resp *workloadresizerv1.ListRatiosResponse, wide bool) error {
	table := &metav1.Table{ColumnDefinitions: ratioColumns}
	for _, ratio := range resp.GetRatios() {
		table.Rows = append(table.Rows, ratioRow(ratio))
	}
	if err := printTable(w, p, wide, table); err != nil {
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
	from := ratio.GetProvenance()
	return metav1.TableRow{Cells: []any{
		nodeTypeText(ratio),
		perf(ratio.GetCpuPerf()), perf(ratio.GetMemoryPerf()),
		factor(ratio.GetCpuFactor()), factor(ratio.GetMemoryFactor()),
		sourceText(from), orAbsent(oneLine(from.GetAuthor())), timestamp(from.GetUpdateTime()),
		timestamp(ratio.GetExpireTime()), orAbsent(oneLine(from.GetReason())), otherSources(ratio),
	}}
}

// ratioName is what -o name prints.
func ratioName(ratio *workloadresizerv1.Ratio) string { return "nodetype/" + ratio.GetNodeType() }

// sourceText is the source that decides. An override stands out: it is not what the
// configuration says.
func sourceText(from *workloadresizerv1.Provenance) painted {
	source := painted{text: orAbsent(oneLine(from.GetSource()))}
	if source.text == overrideSource {
		source.style = notable
	}
	return source
}

func nodeTypeText(ratio *workloadresizerv1.Ratio) string {
	if ratio.GetBaseline() {
		return oneLine(ratio.GetNodeType()) + " (baseline)"
	}
	return oneLine(ratio.GetNodeType())
}

// otherSources are what the sources say that do not decide.
func otherSources(ratio *workloadresizerv1.Ratio) string {
	var others []string
	for i, candidate := range ratio.GetCandidates() {
		if i > 0 { // The first one is the ratio itself.
			others = append(others, oneLine(candidate.GetProvenance().GetSource())+" "+perf(candidate.GetCpuPerf())+"/"+perf(candidate.GetMemoryPerf()))
		}
	}
	return orAbsent(strings.Join(others, ", "))
}
