package ratios

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type (
	ratioList   = objects.List[*workloadresizerv1.Ratio, *workloadresizerv1.Ratio]
	ratioAnswer = objects.Answer[*workloadresizerv1.Ratio]
)

// shown are the ratios that a command shows, with the overrides that take effect again when others expire.
type shown struct{ fallbacks overrideFallbacks }

// list returns a verb over ratios. fetch returns the ratios, and whatever else it says.
func (s *shown) list(v objects.Verb, fetch func(context.Context, *client.Client, *print.Output) (*ratioAnswer, error)) ratioList {
	return ratioList{
		Verb: v,
		Kind: func(o *print.Output) objects.Kind[*workloadresizerv1.Ratio, *workloadresizerv1.Ratio] {
			return ratioKind(o, s.fallbacks)
		},
		Fetch: func(ctx context.Context, c *client.Client, o *print.Output) (*ratioAnswer, error) {
			a, err := fetch(ctx, c, o)
			if err == nil && o.Wide() {
				s.fallbacks, err = findFallbacks(ctx, c, o.ErrOut, a.Objects...)
			}
			return a, err
		},
		Watch: func(ctx context.Context, c *client.Client, opts ...client.WatchOption) iter.Seq2[client.RatioEvent, error] {
			return c.WatchRatios(ctx, opts...)
		},
	}
}

func newListCommand(out print.Output, server *connect.Connection) *cobra.Command {
	rules := false
	l := (&shown{}).list(objects.Verb{
		Use:   "list",
		Short: "List the ratio of every node type, and where it comes from",
		Long: `List the ratio of every node type, and where it comes from.

CPU and MEMORY are the performance of the node type. The FACTOR columns are what
requests are multiplied by there: below 1 on a node that is faster than the
baseline. OTHER SOURCES (-o wide) shows the ratios of the other sources, which are not
in effect, as CPU/MEMORY, and what production shows. EXPIRES (-o wide) is when an
override ends, and the permanent override that then takes effect again, if there is one.

With --rules, the rules for some pods follow, in the order in which they are tried,
with only what each rule sets: "-" means that the global value applies. All other node
types have the ratio of the first table, relative to the baseline of the rule.

If a source is not healthy, a warning appears on standard error, and the table
shows the last good state of that source. If the ratio of a node type is implausible,
its factors are not used, and a warning says why. With --rules, warnings also name the
node types that are not used only for the pods of a rule.`,
		Example: `  # List the ratios that pods are sized by now
  resizectl ratios list

  # Also show who wrote them, when and why, the other sources, and the bounds of requests
  resizectl ratios list -o wide

  # Also show the rules for some pods
  resizectl ratios list --rules`,
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&rules, "rules", false, "also show the rules for some pods; json and yaml always include them")
		},
		Steps: []command.Step{func(cmd *cobra.Command, _ []string) error {
			watch, err := cmd.Flags().GetBool("watch")
			if watch && rules {
				return command.UsageErrorf(cmd, "--watch cannot be combined with --rules")
			}
			return err
		}},
	}, func(ctx context.Context, c *client.Client, o *print.Output) (*ratioAnswer, error) {
		return fetchRatios(ctx, c, o, rules)
	})
	l.WatchFlag = `after the list, print every change as it happens, as "resizectl ratios watch" does`
	return l.Command(out, server)
}

// fetchRatios returns the ratios and, if they are shown, the rules of the same table.
func fetchRatios(ctx context.Context, c *client.Client, o *print.Output, withRules bool) (*ratioAnswer, error) {
	var table *workloadresizerv1.ListRatiosResponse
	var rules []*workloadresizerv1.RatioRule
	var err error
	if withRules || o.Format.IsDocument() {
		var resp *workloadresizerv1.ListRatioRulesResponse
		table, resp, err = c.ListRatiosAndRules(ctx)
		rules = resp.GetRules()
	} else {
		table, err = c.ListRatios(ctx)
	}
	return &ratioAnswer{
		Objects:  table.GetRatios(),
		Document: []proto.Message{table, &workloadresizerv1.ListRatioRulesResponse{Rules: rules, Revision: table.GetRevision()}},
		Below: func(o *print.Output) error {
			if err := printCommon(o, table); err != nil || !withRules {
				return err
			}
			return printRules(o, rules)
		},
		Remarks: append(UnusedWarnings(table.GetRatios(), rules...), SourceWarnings(table.GetSources())...),
	}, err
}

// printCommon prints what applies to all ratios, if wide.
func printCommon(o *print.Output, table *workloadresizerv1.ListRatiosResponse) error {
	if !o.Wide() {
		return nil
	}
	_, err := fmt.Fprintf(o.Out, "bounds: cpu %s, memory %s\nrevision: %s\n",
		print.Range(table.GetBounds().GetCpu()), print.Range(table.GetBounds().GetMemory()), table.GetRevision())
	return err
}

func newGetCommand(out print.Output, server *connect.Connection) *cobra.Command {
	nodeType := ""
	l := (&shown{}).list(objects.Verb{
		Use:   "get NODE_TYPE",
		Short: "Show the ratio of one node type, and where it comes from",
		Long: `Show the ratio of one node type, and where it comes from.

-o wide also shows who set it, why and until when, and the permanent override, if any,
that takes effect again then. It also shows the ratios of the other sources, which
apply when the first source no longer has a ratio.`,
		Example: `  # Show who set the ratio, and the ratios of other sources
  resizectl ratios get n4 -o wide

  # Print the etag, for a change that must not overwrite another one
  resizectl ratios get n4 -o json | jq -r .ratio.etag`,
		Args:     command.Args(cobra.ExactArgs(1)),
		Complete: connect.CompleteNodeTypes(server, 1),
		Steps:    []command.Step{command.Name(&nodeType, "the node type is empty")},
	}, func(ctx context.Context, c *client.Client, _ *print.Output) (*ratioAnswer, error) {
		resp, err := c.Ratios().GetRatio(ctx, &workloadresizerv1.GetRatioRequest{NodeType: nodeType})
		of := []*workloadresizerv1.Ratio{resp.GetRatio()}
		return &ratioAnswer{Objects: of, Document: []proto.Message{resp}, Remarks: UnusedWarnings(of)}, err
	})
	l.One = true
	return l.Command(out, server)
}

func newWatchCommand(out print.Output, server *connect.Connection) *cobra.Command {
	return (&shown{}).list(objects.Verb{}, nil).WatchCommand(objects.Verb{
		Short: "Show the ratios, and then every change as it happens",
		Long: `Show the ratios, and then every change as it happens.

` + connect.WatchHelp,
		Example: `  # Watch all ratios
  resizectl ratios watch

  # Print the CPU performance of n4 whenever it changes
  resizectl ratios watch -o json | jq 'select(.ratio.nodeType == "n4") | .ratio.cpuPerf'`,
	}, out, server)
}

// named is what a row is about: a rule and one of its ratios, which can be nil.
type named struct {
	*workloadresizerv1.RatioRule
	ratio *workloadresizerv1.Ratio
}

// ratioColumn returns a column about the ratio; it says nothing if there is none.
func ratioColumn(header string, cell func(*workloadresizerv1.Ratio) any) objects.Column[named] {
	return objects.Cell(header, func(n named) any {
		if n.ratio == nil {
			return print.Absent
		}
		return cell(n.ratio)
	})
}

var ruleColumns = []objects.Column[named]{
	objects.Cell("Rule", func(n named) any { return print.OneLine(n.GetName()) }),
	objects.Text("Baseline", named.GetBaselineNodeType),
	ratioColumn("Node Type", func(r *workloadresizerv1.Ratio) any { return print.OneLine(r.GetNodeType()) }),
	ratioColumn("CPU", func(r *workloadresizerv1.Ratio) any { return print.Perf(r.GetCpuPerf()) }),
	ratioColumn("Memory", func(r *workloadresizerv1.Ratio) any { return print.Perf(r.GetMemoryPerf()) }),
	ratioColumn("CPU Factor", func(r *workloadresizerv1.Ratio) any { return factorText(r, (*workloadresizerv1.Ratio).GetCpuFactor) }),
	ratioColumn("Memory Factor", func(r *workloadresizerv1.Ratio) any { return factorText(r, (*workloadresizerv1.Ratio).GetMemoryFactor) }),
	ratioColumn("Source", func(r *workloadresizerv1.Ratio) any { return sourceText(r.GetProvenance()) }),
	objects.Cell("CPU Bounds", func(n named) any { return ruleRange(n.GetBounds().GetCpu()) }).Wide(),
	objects.Cell("Memory Bounds", func(n named) any { return ruleRange(n.GetBounds().GetMemory()) }).Wide(),
	objects.Cell("Max Speed Ratio", func(n named) any {
		if n.MaxSpeedRatio == nil {
			return print.Absent
		}
		return print.Perf(n.GetMaxSpeedRatio())
	}).Wide(),
}

// printRules prints below the ratios what rules set.
func printRules(o *print.Output, rules []*workloadresizerv1.RatioRule) error {
	if len(rules) == 0 {
		return print.Texts(o.ErrOut, "there are no rules: the same ratios apply to every pod")
	}
	return o.TableBelow(RuleTable(rules))
}

// RuleTable returns what rules set, in the order in which they are tried: a row per rule and node type, and one for a rule that names no
// node type.
func RuleTable(rules []*workloadresizerv1.RatioRule) *metav1.Table {
	var rows []named
	for _, rule := range rules {
		if len(rule.GetRatios()) == 0 {
			rows = append(rows, named{rule, nil})
		}
		for _, ratio := range rule.GetRatios() {
			rows = append(rows, named{rule, ratio})
		}
	}
	return objects.Table(ruleColumns, rows...)
}

// ruleRange returns the ends of a range that a rule replaces or, with "0", removes.
func ruleRange(r *workloadresizerv1.QuantityRange) string {
	switch {
	case r.GetMin() == "" && r.GetMax() == "":
		return print.Absent
	case r.GetMin() == "0" && r.GetMax() == "0":
		return "unbounded"
	case r.GetMin() == "0" && r.GetMax() == "":
		return "no minimum"
	case r.GetMax() == "0" && r.GetMin() == "":
		return "no maximum"
	case r.GetMin() == "0":
		return "no minimum, at most " + r.GetMax()
	case r.GetMax() == "0":
		return "at least " + r.GetMin() + ", no maximum"
	}
	return print.Range(r)
}
