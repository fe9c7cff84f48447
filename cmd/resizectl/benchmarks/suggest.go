package benchmarks

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type suggestOptions struct {
	print.Output
	server   *connect.Connection
	nodeType string
}

func newSuggestCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &suggestOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "suggest [NODE_TYPE]",
		Short: "Show the ratios that the benchmarks give, and how sure they are",
		Long: `Show the ratios that the benchmarks give, and how sure they are.

CURRENT and SUGGESTED are CPU performances, as "resizectl ratios list" shows them,
and INTERVAL is what SUGGESTED is in with the confidence that the server's
configuration names, 95% by default. CHANGE is from the one to the other, also
where that is less than the noise. BENCHMARKS are those that count.

HELD BACK is why a suggestion is not good enough to be applied by itself. MODE is
what the server does with one that is: it shows it (observe), or follows it
calmly (apply), and then APPLIED (-o wide) is the ratio to the baseline that it is
at, and on its way to.

With a NODE_TYPE everything that is known of it follows: what each benchmark says,
its CPU models, and what it would mean for the pods to accept the suggestion.`,
		Example: `  # What would benchmarks change?
  resizectl benchmark suggest

  # Why, and what would that mean?
  resizectl benchmark suggest n4

  # The same of the machines that have one CPU model
  resizectl benchmark suggest e2@Intel-6-79`,
		Args:              command.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeSuggestions(server),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return o.list(cmd.Context())
			}
			if o.nodeType = args[0]; o.nodeType == "" {
				return command.UsageErrorf(cmd, "the node type is empty; leave it out for all of them")
			}
			return o.show(cmd.Context(), cmd.Root().DisplayName())
		},
	}
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}

func (o *suggestOptions) list(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.Benchmarks().ListSuggestions(ctx, &workloadresizerv1.ListSuggestionsRequest{})
		if err != nil {
			return err
		}
		if o.Format.IsDocument() {
			return o.Document(resp)
		}
		if len(resp.GetSuggestions()) == 0 {
			_, err := fmt.Fprintln(o.ErrOut, "benchmarks tell nothing of any node type: \"resizectl benchmark list\" shows what was measured")
			return err
		}
		return o.Table(suggestionsTable(resp.GetSuggestions()))
	})
}

// show names the program as people write it.
func (o *suggestOptions) show(ctx context.Context, program string) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.Benchmarks().GetSuggestion(ctx, &workloadresizerv1.GetSuggestionRequest{NodeType: o.nodeType})
		if err != nil {
			return err
		}
		if o.Format.IsDocument() {
			return o.Document(resp)
		}
		if err := printSuggestion(o.Out, o.Painter(), resp, o.Wide()); err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.Out, "\n%s\n", howToAccept(program, resp.GetSuggestion()))
		return err
	})
}
