package ratios

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type getOptions struct {
	print.Output
	server   *connect.Connection
	nodeType string
}

func newGetCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &getOptions{Output: out, server: server}
	cmd := &cobra.Command{
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
		Args:              command.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: connect.CompleteNodeTypes(server, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.nodeType = args[0]; o.nodeType == "" {
				return command.UsageErrorf(cmd, "the node type is empty")
			}
			return o.run(cmd.Context())
		},
	}
	command.AddObjectFlags(cmd, &o.Output)
	return cmd
}

func (o *getOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.Ratios().GetRatio(ctx, &workloadresizerv1.GetRatioRequest{NodeType: o.nodeType})
		if err != nil {
			return err
		}
		var fallbacks overrideFallbacks
		if o.Wide() {
			if fallbacks, err = findFallbacks(ctx, c, o.ErrOut, resp.GetRatio()); err != nil {
				return err
			}
		}
		if err := o.print(resp, fallbacks); err != nil {
			return err
		}
		return warnOfUnused(o.ErrOut, []*workloadresizerv1.Ratio{resp.GetRatio()})
	})
}

func (o *getOptions) print(resp *workloadresizerv1.GetRatioResponse, fallbacks overrideFallbacks) error {
	switch {
	case o.Format.IsDocument():
		return o.Document(resp)
	case o.Format.IsListing():
		return print.Listing(&o.Output, ratioName, resp.GetRatio())
	}
	return o.Table(&metav1.Table{ColumnDefinitions: ratioColumns, Rows: []metav1.TableRow{ratioRow(&o.Output, resp.GetRatio(), fallbacks)}})
}
