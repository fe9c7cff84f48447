package ratios

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var ratioColumns = []metav1.TableColumnDefinition{
	print.Column("Node Type"), print.Column("CPU"), print.Column("Memory"), print.Column("CPU Factor"), print.Column("Memory Factor"), print.Column("Source"),
	print.WideColumn("Author"), print.WideColumn("Credential"), print.WideColumn("Age"), print.WideColumn("Expires"), print.WideColumn("Reason"), print.WideColumn("Other Sources"),
}

// OverrideSource is the source that "ratios set" writes to.
const OverrideSource = "override"

// printRatios prints a row per node type and, if wide, what applies to all of them.
func printRatios(o *print.Output, resp *workloadresizerv1.ListRatiosResponse, fallbacks overrideFallbacks) error {
	table := &metav1.Table{ColumnDefinitions: ratioColumns}
	for _, ratio := range resp.GetRatios() {
		table.Rows = append(table.Rows, ratioRow(o, ratio, fallbacks))
	}
	if err := o.Table(table); err != nil {
		return err
	}
	if !o.Wide() {
		return nil
	}
	_, err := fmt.Fprintf(o.Out, "bounds: cpu %s, memory %s\nrevision: %s\n",
		print.Range(resp.GetBounds().GetCpu()), print.Range(resp.GetBounds().GetMemory()), resp.GetRevision())
	return err
}

func ratioRow(o *print.Output, ratio *workloadresizerv1.Ratio, fallbacks overrideFallbacks) metav1.TableRow {
	from := ratio.GetProvenance()
	return metav1.TableRow{Cells: []any{
		nodeTypeText(ratio),
		print.Perf(ratio.GetCpuPerf()), print.Perf(ratio.GetMemoryPerf()),
		factorText(ratio, (*workloadresizerv1.Ratio).GetCpuFactor), factorText(ratio, (*workloadresizerv1.Ratio).GetMemoryFactor),
		sourceText(from), print.OrAbsent(print.OneLine(from.GetAuthor())), print.OrAbsent(print.OneLine(from.GetCredentialId())), o.Age(from.GetUpdateTime()),
		endText(ratio.GetExpireTime(), fallbacks[ratio.GetNodeType()]), print.OrAbsent(print.OneLine(from.GetReason())), otherSources(ratio),
	}}
}

// ratioName returns what -o name prints.
func ratioName(ratio *workloadresizerv1.Ratio) string { return "nodetype/" + ratio.GetNodeType() }

// sourceText returns the source in effect. An override stands out, because it differs from
// the configuration.
func sourceText(from *workloadresizerv1.Provenance) print.Cell {
	source := print.Cell{Text: print.OrAbsent(print.OneLine(from.GetSource()))}
	if source.Text == OverrideSource {
		source.Style = print.Notable
	}
	return source
}

func nodeTypeText(ratio *workloadresizerv1.Ratio) string {
	if ratio.GetBaseline() {
		return print.OneLine(ratio.GetNodeType()) + " (baseline)"
	}
	return print.OneLine(ratio.GetNodeType())
}

// otherSources returns the ratios of the sources that are not in effect.
func otherSources(ratio *workloadresizerv1.Ratio) string {
	var others []string
	for i, candidate := range ratio.GetCandidates() {
		if i > 0 { // The first one is the ratio itself.
			others = append(others, print.OneLine(candidate.GetProvenance().GetSource())+" "+print.Perf(candidate.GetCpuPerf())+"/"+print.Perf(candidate.GetMemoryPerf()))
		}
	}
	return print.OrAbsent(strings.Join(others, ", "))
}
