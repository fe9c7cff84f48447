package ratios

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type listOptions struct {
	print.Output
	server *connect.Connection
	rules  bool
	watch  bool
}

func newListCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &listOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the ratio of every node type, and where it comes from",
		Long: `List the ratio of every node type, and where it comes from.

CPU and MEMORY are the performance of the node type. The FACTOR columns are what
requests are multiplied by there: below 1 on a node that is faster than the
baseline. OTHER SOURCES (-o wide) shows the ratios of the other sources, which are not
in effect, as CPU/MEMORY. EXPIRES (-o wide) is when an override ends, and the
permanent override that then takes effect again, if there is one.

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
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.watch && o.rules:
				return command.UsageErrorf(cmd, "--watch cannot be combined with --rules")
			case o.watch && o.SortBy.IsSet():
				return command.UsageErrorf(cmd, "--sort-by cannot be combined with --watch: changes arrive in their own order")
			case o.watch:
				w := &watchOptions{Output: o.Output, server: o.server}
				return w.run(cmd.Context())
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.rules, "rules", false, "also show the rules for some pods; json and yaml always include them")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "after the list, print every change as it happens, as \"resizectl ratios watch\" does")
	command.AddListFlags(cmd, &o.Output)
	return cmd
}

func (o *listOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, rules, err := o.list(ctx, c)
		if err != nil {
			return err
		}
		var fallbacks overrideFallbacks
		if o.Wide() {
			if fallbacks, err = findFallbacks(ctx, c, o.ErrOut, resp.GetRatios()...); err != nil {
				return err
			}
		}
		if err := o.print(resp, rules, fallbacks); err != nil {
			return err
		}
		if err := warnOfUnused(o.ErrOut, resp.GetRatios(), rules...); err != nil {
			return err
		}
		return WarnOfSources(o.ErrOut, resp.GetSources())
	})
}

// list returns the ratios and, if they are shown, the rules of the same table.
func (o *listOptions) list(ctx context.Context, c *client.Client) (*workloadresizerv1.ListRatiosResponse, []*workloadresizerv1.RatioRule, error) {
	if !o.rules && !o.Format.IsDocument() {
		table, err := c.ListRatios(ctx)
		return table, nil, err
	}
	table, rules, err := c.ListRatiosAndRules(ctx)
	return table, rules.GetRules(), err
}

func (o *listOptions) print(resp *workloadresizerv1.ListRatiosResponse, rules []*workloadresizerv1.RatioRule, fallbacks overrideFallbacks) error {
	if err := print.Sort(o.SortBy, resp.GetRatios()); err != nil {
		return err
	}
	switch {
	case o.Format.IsDocument():
		return o.Document(resp, &workloadresizerv1.ListRatioRulesResponse{Rules: rules, Revision: resp.GetRevision()})
	case o.Format.IsListing():
		return print.Listing(&o.Output, ratioName, resp.GetRatios()...)
	}
	if err := printRatios(&o.Output, resp, fallbacks); err != nil || !o.rules {
		return err
	}
	if len(rules) == 0 {
		_, err := fmt.Fprintln(o.ErrOut, "there are no rules: the same ratios apply to every pod")
		return err
	}
	if _, err := fmt.Fprintln(o.Out); err != nil {
		return err
	}
	return o.Table(rulesTable(rules))
}

// warnOfUnused warns of node types that are not used. Rules that do not use a node type for the same
// reason are named once, by the first of them.
func warnOfUnused(w io.Writer, globals []*workloadresizerv1.Ratio, rules ...*workloadresizerv1.RatioRule) error {
	warned := map[string]bool{}
	warn := func(nodeType, by, why string) error {
		if why == "" || warned[why] {
			return nil
		}
		warned[why] = true
		_, err := fmt.Fprintf(w, "warning: %s is not used%s: %s\n", print.OneLine(nodeType), by, print.OneLine(why))
		return err
	}
	for _, ratio := range globals {
		if err := warn(ratio.GetNodeType(), "", ratio.GetImplausible()); err != nil {
			return err
		}
	}
	for _, rule := range rules {
		by := " by " + print.OneLine(rule.GetName())
		for _, nodeType := range slices.Sorted(maps.Keys(rule.GetImplausible())) {
			if err := warn(nodeType, by, rule.GetImplausible()[nodeType]); err != nil {
				return err
			}
		}
	}
	return nil
}

// WarnOfSources warns of sources whose current state is not in the table.
func WarnOfSources(w io.Writer, sources []*workloadresizerv1.RatioSource) error {
	for _, source := range sources {
		if source.GetHealthy() {
			continue
		}
		if _, err := fmt.Fprintf(w, "warning: %s\n", print.SourceProblem(source)); err != nil {
			return err
		}
	}
	return nil
}
