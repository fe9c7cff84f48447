package benchmarks

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func newSuggestCommand(out print.Output, server *connect.Connection) *cobra.Command {
	nodeType := ""
	return objects.List[*workloadresizerv1.Suggestion, *workloadresizerv1.Suggestion]{
		Verb: objects.Verb{
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
			Args:     command.Args(cobra.MaximumNArgs(1)),
			Complete: completeSuggestions(server),
			Steps:    []command.Step{command.Name(&nodeType, "the node type is empty; omit it for all of them")},
		},
		Kind: suggestionKind,
		Fetch: func(ctx context.Context, c *client.Client, o *print.Output) (*objects.Answer[*workloadresizerv1.Suggestion], error) {
			if nodeType != "" {
				return suggestionFor(ctx, c, nodeType)
			}
			resp, err := c.ListSuggestions(ctx)
			return &objects.Answer[*workloadresizerv1.Suggestion]{
				Objects: resp.GetSuggestions(), Document: []proto.Message{resp},
				Empty: o.Commands("no suggestions for any node type: \"resizectl benchmark list\" shows the measurements"),
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
			_, err := fmt.Fprintf(o.Out, "\n%s\n", o.Commands(howToAccept(resp.GetSuggestion())))
			return err
		},
	}, err
}
