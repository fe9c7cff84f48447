package resizes

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

type getOptions struct {
	genericiooptions.IOStreams
	pod    command.Pod
	server *connect.Connection
	color  *print.ColorMode
	output print.Format
}

func newGetCommand(streams genericiooptions.IOStreams, server *connect.Connection, color *print.ColorMode) *cobra.Command {
	o := &getOptions{IOStreams: streams, server: server, color: color}
	cmd := &cobra.Command{
		Use:   "get POD",
		Short: "Show what was done to a pod, and how far its node is",
		Long: `Show what was done to a pod, and how far its node is.

` + resizesHelp,
		Example: `  # Does a pod run with what it asks for?
  resizectl resizes get web-6d4cf56db6-x2x7p -n shop -o wide`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.pod.Complete(cmd, args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.pod.AddNamespaceFlag(cmd)
	command.AddOutputFlag(cmd, &o.output)
	return cmd
}

func (o *getOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resize, err := c.GetResize(ctx, o.pod.Namespace, o.pod.Name)
		if err != nil {
			return err
		}
		if o.output.IsDocument() {
			return print.Document(o.Out, o.output, resize)
		}
		if err := print.Table(o.Out, o.color.Painter(o.Out), o.output == print.FormatWide, resizesTable(false, resize)); err != nil {
			return err
		}
		if resize.GetMessage() != "" {
			if _, err := fmt.Fprintf(o.Out, "%s: %s\n", State(resize.GetState()), print.OneLine(resize.GetMessage())); err != nil {
				return err
			}
		}
		if Partly(resize) {
			return printPart(ctx, c, o.Out, resize)
		}
		return nil
	})
}
