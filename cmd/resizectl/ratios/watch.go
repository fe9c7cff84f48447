package ratios

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
}

func newWatchCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &watchOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Show the ratios, and then every change as it happens",
		Long: `Show the ratios, and then every change as it happens.

` + connect.WatchHelp,
		Example: `  # Watch all ratios
  resizectl ratios watch

  # Print the CPU performance of n4 whenever it changes
  resizectl ratios watch -o json | jq 'select(.ratio.nodeType == "n4") | .ratio.cpuPerf'`,
		Args: command.Args(cobra.NoArgs),
		RunE: command.Steps(o.run),
	}
	command.AddObjectFlags(cmd, &o.Output)
	return cmd
}

func (o *watchOptions) run(ctx context.Context) error {
	return o.server.Stream(ctx, func(ctx context.Context, c *client.Client) error {
		events := func(opts ...client.WatchOption) iter.Seq2[client.RatioEvent, error] {
			return c.WatchRatios(ctx, opts...)
		}
		rowsOf := func(ratio *workloadresizerv1.Ratio) []metav1.TableRow {
			return []metav1.TableRow{ratioRow(&o.Output, ratio, nil)}
		}
		return connect.Follow(ctx, o.IOStreams, events, print.NewEventPrinter(&o.Output, ratioColumns, rowsOf, ratioName))
	})
}
