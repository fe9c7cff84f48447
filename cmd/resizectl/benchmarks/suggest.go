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
		Short: "Show the ratios that the benchmarks suggest, and the confidence in them",
		Long: `Show the ratios that the benchmarks suggest, and the confidence in them.

CURRENT and SUGGESTED are CPU performances, as in "resizectl ratios list".
INTERVAL is the interval around SUGGESTED, with the confidence that the server's
configuration sets, 95% by default. CHANGE is the change from CURRENT to
SUGGESTED, even if it is less than the noise. BENCHMARKS counts the benchmarks
that contribute.

HELD BACK is why a suggestion is not good enough to be applied automatically. MODE
is what the server does with a suggestion that is good enough: it shows the
suggestion (observe), or follows it gradually (apply). In mode apply, APPLIED
(-o wide) is the current ratio to the baseline, and the ratio that it moves
toward.

With a NODE_TYPE, everything known about it follows: the result of each benchmark,
its CPU models, and what accepting the suggestion would mean for the pods.`,
		Example: `  # Show what the benchmarks suggest
  resizectl benchmark suggest

  # Show the reasons for a suggestion, and what it would mean for the pods
  resizectl benchmark suggest n4

  # Show the same for the machines with one CPU model
  resizectl benchmark suggest e2@Intel-6-79`,
		Args:              command.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeSuggestions(server),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return o.list(cmd.Context())
			}
			if o.nodeType = args[0]; o.nodeType == "" {
				return command.UsageErrorf(cmd, "the node type is empty; omit it for all of them")
			}
			return o.show(cmd.Context())
		},
	}
	command.AddListFlags(cmd, &o.Output)
	return cmd
}

func (o *suggestOptions) list(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.ListSuggestions(ctx)
		if err != nil {
			return err
		}
		if err := print.Sort(o.SortBy, resp.GetSuggestions()); err != nil {
			return err
		}
		if o.Format.IsDocument() {
			return o.Document(resp)
		}
		if len(resp.GetSuggestions()) == 0 {
			_, err := fmt.Fprintln(o.ErrOut, o.Commands("no suggestions for any node type: \"resizectl benchmark list\" shows the measurements"))
			return err
		}
		if o.Format.IsListing() {
			return print.Listing(&o.Output, suggestionName, resp.GetSuggestions()...)
		}
		return o.Table(suggestionsTable(&o.Output, resp.GetSuggestions()))
	})
}

// show prints the suggestion for the node type, and how to accept it.
func (o *suggestOptions) show(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.Benchmarks().GetSuggestion(ctx, &workloadresizerv1.GetSuggestionRequest{NodeType: o.nodeType})
		if err != nil {
			return err
		}
		switch {
		case o.Format.IsDocument():
			return o.Document(resp)
		case o.Format.IsListing():
			return print.Listing(&o.Output, suggestionName, resp.GetSuggestion())
		}
		if err := printSuggestion(o.Out, o.Painter(), resp, o.Wide()); err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.Out, "\n%s\n", o.Commands(howToAccept(resp.GetSuggestion())))
		return err
	})
}
