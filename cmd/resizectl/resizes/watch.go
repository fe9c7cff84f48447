package resizes

import (
	"context"
	"iter"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type watchOptions struct {
	print.Output
	server *connect.Connection
	selection
}

func newWatchCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &watchOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Show the pods that were sized, and then every resize as it happens",
		Long: `Show the pods that were sized, and then every resize as it happens.

` + connect.WatchHelp + "\n\n" + resizesHelp,
		Example: `  # Watch the pods of a rollout being sized
  resizectl resizes watch -n shop

  # Print each resize that its node has no room for, as JSON
  resizectl resizes watch -A --state deferred -o json`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			request, err := o.request(cmd)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), request)
		},
	}
	o.addFlags(cmd, "watch")
	command.AddObjectFlags(cmd, &o.Output)
	return cmd
}

func (o *watchOptions) run(ctx context.Context, request *workloadresizerv1.ListResizesRequest) error {
	watched := &workloadresizerv1.WatchResizesRequest{Namespace: request.GetNamespace(), LabelSelector: request.GetLabelSelector(), States: request.GetStates()}
	return o.server.Stream(ctx, func(ctx context.Context, c *client.Client) error {
		events := func(opts ...client.WatchOption) iter.Seq2[client.ResizeEvent, error] {
			return c.WatchResizes(ctx, watched, opts...)
		}
		rowsOf := func(resize *workloadresizerv1.Resize) []metav1.TableRow {
			return resizeRows(&o.Output, resize, o.allNamespaces)
		}
		columns := resizeColumns(o.allNamespaces, print.Column("State      "))
		return connect.Follow(ctx, o.IOStreams, events, print.NewEventPrinter(&o.Output, columns, rowsOf, resizeName))
	})
}
