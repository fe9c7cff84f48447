package resizes

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

type getOptions struct {
	print.Output
	pod    command.Pod
	server *connect.Connection
}

func newGetCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &getOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "get POD | TYPE/NAME | -l LABELS",
		Short: "Show the resize of a pod, and its state on the node",
		Long: `Show the resize of a pod, and its state on the node. TYPE/NAME stands for one of
the pods of a workload, and --selector for one of the pods with these labels.

` + resizesHelp,
		Example: `  # Show whether a pod runs with what it requests
  resizectl resizes get web-6d4cf56db6-x2x7p -n shop -o wide`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteObjects(server),
		RunE:              command.Steps(o.run, o.pod.Complete),
	}
	connect.AddNamespaceFlag(cmd, &o.pod.Namespace, "namespace of the pod")
	o.pod.AddSelectorFlag(cmd)
	command.AddObjectFlags(cmd, &o.Output)
	return cmd
}

func (o *getOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		pod, err := connect.ChoosePod(ctx, c, o.ErrOut, &o.pod)
		if err != nil {
			return err
		}
		resize, err := c.GetResize(ctx, o.pod.Namespace, pod)
		if err != nil {
			return err
		}
		switch {
		case o.Format.IsDocument():
			return o.Document(resize)
		case o.Format.IsListing():
			return print.Listing(&o.Output, resizeName, resize)
		}
		if err := o.Table(resizesTable(&o.Output, false, resize)); err != nil {
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
