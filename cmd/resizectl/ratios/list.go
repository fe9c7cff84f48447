package ratios

import (
	"context"
	"fmt"
	"io"

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

CPU and MEMORY are the performance of the node type, the FACTORs what requests
are multiplied by there: below 1 on a node that is faster than the baseline. With
--rules what holds for some pods only follows, in the order in which the rules are
tried. OTHER SOURCES (-o wide) is what sources say that do not decide, as
CPU/MEMORY.

A source that is not well is warned of on standard error: the table then holds
the last good state of that source.`,
		Example: `  # The ratios that pods are sized by now
  resizectl ratios list

  # Also who wrote them, when and why, what others say, and the bounds of requests
  resizectl ratios list -o wide

  # Also the rules for some pods
  resizectl ratios list --rules`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.watch && o.rules:
				return command.UsageErrorf(cmd, "--watch shows ratios: leave --rules out")
			case o.watch:
				w := &watchOptions{Output: o.Output, server: o.server}
				return w.run(cmd.Context())
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.rules, "rules", false, "show the rules for some pods, too; json and yaml always have them")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "go on with every change as it comes, as \"resizectl ratios watch\" does")
	command.AddNamingFlag(cmd, &o.Format)
	return cmd
}

func (o *listOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.ListRatios(ctx)
		if err != nil {
			return err
		}
		if err := o.print(resp); err != nil {
			return err
		}
		return WarnOfSources(o.ErrOut, resp.GetSources())
	})
}

func (o *listOptions) print(resp *workloadresizerv1.ListRatiosResponse) error {
	switch o.Format {
	case print.FormatJSON, print.FormatYAML:
		return o.Document(resp)
	case print.FormatName:
		return print.Names(o.Out, ratioName, resp.GetRatios()...)
	}
	p, wide := o.Painter(), o.Wide()
	if err := printRatios(o.Out, p, resp, wide); err != nil || !o.rules {
		return err
	}
	if len(resp.GetRules()) == 0 {
		_, err := fmt.Fprintln(o.ErrOut, "there are no rules: the same holds for every pod")
		return err
	}
	if _, err := fmt.Fprintln(o.Out); err != nil {
		return err
	}
	return printRules(o.Out, p, resp.GetRules(), wide)
}

// WarnOfSources tells of sources whose present state is not in the table.
func WarnOfSources(w io.Writer, sources []*workloadresizerv1.RatioSource) error {
	for _, source := range sources {
		if source.GetHealthy() {
			continue
		}
		kept := "it has had no good state yet"
		if source.GetLastGoodTime() != nil {
			kept = "its state of " + print.Timestamp(source.GetLastGoodTime()) + " is kept"
		}
		if _, err := fmt.Fprintf(w, "warning: source %s is not healthy: %s (%s)\n",
			print.OneLine(source.GetName()), print.OneLine(source.GetMessage()), kept); err != nil {
			return err
		}
	}
	return nil
}
