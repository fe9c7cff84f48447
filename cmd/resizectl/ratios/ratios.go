package ratios

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// NewCommand returns ratios, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ratios",
		Short: "Show and change the performance ratios of the node types",
		Long: `Show and change the performance ratios of the node types.

A ratio says how fast a node type is, relative to the others. The factor of a node
type, which requests are multiplied by, is the performance of the baseline divided
by the performance of the node type.

Ratios come from sources, such as the server's configuration. set, delete and
rollback change the overrides, which are a source of their own.`,
	}
	command.Group(cmd)
	cmd.AddCommand(
		newListCommand(out, server),
		newGetCommand(out, server),
		newSetCommand(out, server),
		newDeleteCommand(out, server),
		newWatchCommand(out, server),
		newHistoryCommand(out, server),
		newRollbackCommand(out, server),
	)
	return cmd
}

// OverrideSource is the source that "ratios set" writes to.
const OverrideSource = "override"

// Kind describes the ratios in effect.
func Kind(o *print.Output) objects.Kind[*workloadresizerv1.Ratio, *workloadresizerv1.Ratio] {
	return ratioKind(o, nil)
}

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
			others = append(others, print.OneLine(candidate.GetProvenance().GetSource())+" "+print.Perf(candidate.GetCpuPerf())+"/"+print.Perf(candidate.GetMemoryPerf())+observedText(candidate))
		}
	}
	return print.OrAbsent(strings.Join(others, ", "))
}

// observedText marks a ratio that its source only shows.
func observedText(c *workloadresizerv1.RatioCandidate) string {
	if c.GetObserved() {
		return " (only shown)"
	}
	return ""
}

// overrideFallbacks are the permanent overrides that take effect when temporary ones expire, by
// node type.
type overrideFallbacks map[string]*workloadresizerv1.OverrideValue

// findFallbacks returns the fallbacks of these ratios, as far as they expire. It only warns if the
// user may not read overrides.
func findFallbacks(ctx context.Context, c *client.Client, errOut io.Writer, of ...*workloadresizerv1.Ratio) (overrideFallbacks, error) {
	if !slices.ContainsFunc(of, func(r *workloadresizerv1.Ratio) bool { return r.GetExpireTime() != nil }) {
		return nil, nil
	}
	fallbacks := overrideFallbacks{}
	for override, err := range c.ListOverrides(ctx) {
		if client.Reason(err) == "NOT_AUTHORIZED" {
			return nil, print.Texts(errOut, "warning: it is not known which overrides follow those that expire: "+print.OneLine(connect.MessageOf(err)))
		}
		if err != nil {
			return nil, err
		}
		if override.GetFallback() != nil {
			fallbacks[override.GetNodeType()] = override.GetFallback()
		}
	}
	return fallbacks, nil
}

// UnusedWarnings warn of node types that are not used. Rules that do not use a node type for the same
// reason are named once, by the first of them.
func UnusedWarnings(globals []*workloadresizerv1.Ratio, rules ...*workloadresizerv1.RatioRule) (texts []string) {
	warned := map[string]bool{"": true}
	warn := func(nodeType, by, why string) {
		if !warned[why] {
			warned[why] = true
			texts = append(texts, fmt.Sprintf("warning: %s is not used%s: %s", print.OneLine(nodeType), by, print.OneLine(why)))
		}
	}
	for _, ratio := range globals {
		warn(ratio.GetNodeType(), "", ratio.GetImplausible())
	}
	for _, rule := range rules {
		for _, nodeType := range slices.Sorted(maps.Keys(rule.GetImplausible())) {
			warn(nodeType, " by "+print.OneLine(rule.GetName()), rule.GetImplausible()[nodeType])
		}
	}
	return texts
}

// SourceWarnings warn of sources whose current state is not in the table.
func SourceWarnings(sources []*workloadresizerv1.RatioSource) (texts []string) {
	for _, source := range sources {
		if !source.GetHealthy() {
			texts = append(texts, "warning: "+print.SourceProblem(source))
		}
	}
	return texts
}
