package benchmarks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// NewSuggestCommand returns the command of ratios that shows what benchmarks and production suggest.
func NewSuggestCommand(out print.Output, server *connect.Connection) *cobra.Command {
	nodeType := ""
	return objects.List[*workloadresizerv1.Suggestion, *workloadresizerv1.Suggestion]{
		Verb: objects.Verb{
			Use:   "suggest [NODE_TYPE]",
			Short: "Show the ratios that benchmarks and production suggest, and the confidence in them",
			Long: `Show the ratios that benchmarks and production suggest, and the confidence in them.

Benchmarks measure machines. Production is what the workloads in the cluster show:
replicas that share the same load use less CPU on a faster node.

CURRENT and SUGGESTED are CPU performances, as in "resizectl ratios list". SUGGESTED
and the columns up to HELD BACK are about benchmarks. INTERVAL is the interval around
SUGGESTED, with the confidence that the server's configuration sets, 95% by default.
CHANGE is the change from CURRENT to SUGGESTED, even if it is less than the noise.
BENCHMARKS counts the benchmarks that contribute. MODE is what the server does with a
suggestion that is good enough: it shows the suggestion (observe), or follows it
gradually (apply). HELD BACK is why a suggestion is not good enough for that.

PRODUCTION is what production shows, or why that is held back or not known, with its
interval (-o wide). It names the sources that it contradicts: their ratios are outside
of what is likely.

In mode apply, APPLIED (-o wide) is the current ratio to the baseline, and the ratio
that it moves toward.

With a NODE_TYPE, you see all sources on one scale, what production compared, and why
some workloads do not count. The result of each benchmark and the CPU models follow,
and what accepting the suggestion of benchmarks would mean for the pods.`,
			Example: `  # Show what benchmarks and production suggest
  resizectl ratios suggest

  # Compare all sources, with the reasons, and what it would mean for the pods
  resizectl ratios suggest n4

  # Show the same for the machines with one CPU model
  resizectl ratios suggest e2@Intel-6-79`,
			Args:     command.Args(cobra.MaximumNArgs(1)),
			Complete: completeSuggestions(server),
			Steps:    []command.Step{command.Name(&nodeType, "the node type is empty; omit it for all of them")},
		},
		Kind: SuggestionKind,
		Fetch: func(ctx context.Context, c *client.Client, o *print.Output) (*objects.Answer[*workloadresizerv1.Suggestion], error) {
			if nodeType != "" {
				return suggestionFor(ctx, c, nodeType)
			}
			resp, err := c.ListSuggestions(ctx)
			return &objects.Answer[*workloadresizerv1.Suggestion]{
				Objects: resp.GetSuggestions(), Document: []proto.Message{resp},
				Empty: o.Commands("no suggestions for any node type: \"resizectl benchmark list\" shows the measurements of benchmarks, and \"resizectl usage sources\" whether usage is collected, which production needs"),
			}, err
		},
	}.Command(out, server)
}

// suggestionFor returns the suggestion for a node type as text, and how to accept it.
func suggestionFor(ctx context.Context, c *client.Client, nodeType string) (*objects.Answer[*workloadresizerv1.Suggestion], error) {
	resp, err := c.Benchmarks().GetSuggestion(ctx, &workloadresizerv1.GetSuggestionRequest{NodeType: nodeType})
	return &objects.Answer[*workloadresizerv1.Suggestion]{
		Objects: []*workloadresizerv1.Suggestion{resp.GetSuggestion()}, Document: []proto.Message{resp},
		Text: func(o *print.Output) error {
			if err := printSuggestion(o, resp); err != nil {
				return err
			}
			return print.Texts(o.Out, fmt.Sprintf("\n%s", o.Commands(howToUse(resp.GetSuggestion()))))
		},
	}, err
}

// SuggestionKind describes suggestions.
func SuggestionKind(o *print.Output) objects.Kind[*workloadresizerv1.Suggestion, *workloadresizerv1.Suggestion] {
	type suggestion = *workloadresizerv1.Suggestion
	return objects.Kind[suggestion, suggestion]{
		Name: func(s suggestion) string { return "nodetype/" + s.GetNodeType() },
		Rows: objects.Itself[suggestion],
		Columns: []objects.Column[suggestion]{
			objects.Text("Node Type", suggestion.GetNodeType),
			objects.Cell("Current", func(s suggestion) any { return currentPerf(s) }),
			objects.Cell("Suggested", func(s suggestion) any { return print.Factor(s.GetCpuPerf()) }),
			objects.Cell("Interval", func(s suggestion) any { return intervalText(s) }),
			objects.Cell("Change", func(s suggestion) any { return changedBy(s.GetCurrent().GetCpuPerf(), s.GetCpuPerf()) }),
			objects.Count("Samples", suggestion.GetSamples),
			objects.Count("Machines", suggestion.GetMachines),
			objects.Count("Benchmarks", func(s suggestion) int64 { return int64(len(countedParts(s))) }),
			objects.Cell("Mode", func(s suggestion) any { return modeText(s.GetMode()) }),
			objects.Cell("Held Back", func(s suggestion) any { return holdCodes(s) }),
			objects.Cell("Production", func(s suggestion) any { return productionPerf(s.GetProduction()) }),
			objects.Text("Source", func(s suggestion) string { return s.GetCurrent().GetProvenance().GetSource() }).Wide(),
			objects.Cell("Ratio", func(s suggestion) any { return print.Factor(s.GetRatio()) }).Wide(),
			objects.Cell("One Thread", func(s suggestion) any { return print.Factor(s.GetEnds().GetOneThread()) }).Wide(),
			objects.Cell("All Threads", func(s suggestion) any { return print.Factor(s.GetEnds().GetAllThreads()) }).Wide(),
			objects.Cell("Applied", func(s suggestion) any { return appliedText(s.GetProgress()) }).Wide(),
			objects.Cell("Production Interval", func(s suggestion) any { return productionInterval(s.GetProduction()) }).Wide(),
			objects.Cell("Newest", func(s suggestion) any { return o.Age(s.GetNewestTime()) }).Wide(),
		},
	}
}

// currentPerf returns the CPU performance in effect.
func currentPerf(s *workloadresizerv1.Suggestion) string {
	if s.GetCurrent() == nil {
		return print.Absent
	}
	return print.Perf(s.GetCurrent().GetCpuPerf())
}

// intervalText returns the confidence interval in the unit of the table. There is none from too few
// scores.
func intervalText(s *workloadresizerv1.Suggestion) string {
	interval := s.GetInterval()
	if interval == nil {
		return print.Absent
	}
	unit := s.GetCpuPerf() / s.GetRatio()
	return print.Factor(interval.GetLow()*unit) + " to " + print.Factor(interval.GetHigh()*unit)
}

// countedParts returns the results of the benchmarks that count.
func countedParts(s *workloadresizerv1.Suggestion) []*workloadresizerv1.SuggestionPart {
	var counted []*workloadresizerv1.SuggestionPart
	for _, part := range s.GetParts() {
		if part.GetWeight() > 0 {
			counted = append(counted, part)
		}
	}
	return counted
}

func modeText(mode workloadresizerv1.BenchmarkMode) string {
	switch mode {
	case workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE:
		return "observe"
	case workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY:
		return "apply"
	}
	return print.Absent
}

// holdCodes returns why what benchmarks suggest is held back.
func holdCodes(s *workloadresizerv1.Suggestion) print.Cell {
	return print.Marked(strings.Join(codesOf(s.GetHolds()), ","), print.Notable)
}

// codesOf returns each reason once: one for the node type and one for the baseline can be the same.
func codesOf(holds []*workloadresizerv1.SuggestionHold) (codes []string) {
	for _, hold := range holds {
		if code := print.OneLine(hold.GetCode()); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// appliedText returns the ratio of the benchmark source, and the ratio that it moves toward.
func appliedText(p *workloadresizerv1.SuggestionProgress) string {
	if p == nil {
		return print.Absent
	}
	return ratios.Shifted(print.Factor(p.GetRatio()), print.Factor(p.GetTarget()))
}
