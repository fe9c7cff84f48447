package ratios

import (
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// OverrideSource is the source that "ratios set" writes to.
const OverrideSource = "override"

// ratioKind describes ratios. fallbacks are what takes effect again when overrides expire.
func ratioKind(o *print.Output, fallbacks overrideFallbacks) objects.Kind[*workloadresizerv1.Ratio, *workloadresizerv1.Ratio] {
	type ratio = *workloadresizerv1.Ratio
	return objects.Kind[ratio, ratio]{
		Name: func(r ratio) string { return "nodetype/" + r.GetNodeType() },
		Rows: objects.Itself[ratio],
		Columns: []objects.Column[ratio]{
			objects.Cell("Node Type", func(r ratio) any { return nodeTypeText(r) }),
			objects.Cell("CPU", func(r ratio) any { return print.Perf(r.GetCpuPerf()) }),
			objects.Cell("Memory", func(r ratio) any { return print.Perf(r.GetMemoryPerf()) }),
			objects.Cell("CPU Factor", func(r ratio) any { return factorText(r, ratio.GetCpuFactor) }),
			objects.Cell("Memory Factor", func(r ratio) any { return factorText(r, ratio.GetMemoryFactor) }),
			objects.Cell("Source", func(r ratio) any { return sourceText(r.GetProvenance()) }),
			objects.Text("Author", func(r ratio) string { return r.GetProvenance().GetAuthor() }).Wide(),
			objects.Text("Credential", func(r ratio) string { return r.GetProvenance().GetCredentialId() }).Wide(),
			objects.Cell("Age", func(r ratio) any { return o.Age(r.GetProvenance().GetUpdateTime()) }).Wide(),
			objects.Cell("Expires", func(r ratio) any { return endText(r.GetExpireTime(), fallbacks[r.GetNodeType()]) }).Wide(),
			objects.Text("Reason", func(r ratio) string { return r.GetProvenance().GetReason() }).Wide(),
			objects.Cell("Other Sources", func(r ratio) any { return otherSources(r) }).Wide(),
		},
	}
}

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
