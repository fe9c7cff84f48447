package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/client"
)

// podOptions name one pod.
type podOptions struct {
	genericiooptions.IOStreams
	server    *connection
	color     *colorMode
	output    format
	namespace string
	pod       string
}

func (o *podOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "default", "namespace of the pod")
	o.output.addFlag(cmd)
}

// complete takes over the argument.
func (o *podOptions) complete(cmd *cobra.Command, args []string) error {
	named, err := parseObject(cmd, args)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return usageErrorf(cmd, "name the pod: %s POD", cmd.CommandPath())
	case named.pod() == "":
		return usageErrorf(cmd, "%s is not a pod: name one pod", strings.Join(args, " "))
	case o.namespace == "":
		return usageErrorf(cmd, "the namespace is empty; leave --namespace out for the namespace default")
	}
	o.pod = named.pod()
	return nil
}

func newResizesGetCommand(streams genericiooptions.IOStreams, server *connection, color *colorMode) *cobra.Command {
	o := &podOptions{IOStreams: streams, server: server, color: color}
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
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			return o.getResize(cmd.Context())
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *podOptions) getResize(ctx context.Context) error {
	return o.server.call(ctx, func(ctx context.Context, c *client.Client) error {
		resize, err := c.GetResize(ctx, o.namespace, o.pod)
		if err != nil {
			return err
		}
		if o.output.streams() {
			return printDocument(o.Out, o.output, resize)
		}
		if err := newTableWriter(o.Out, o.color.painter(o.Out), o.output == formatWide).print(resizesTable(false, resize)); err != nil {
			return err
		}
		if resize.GetMessage() != "" {
			if _, err := fmt.Fprintf(o.Out, "%s: %s\n", stateText(resize.GetState()), oneLine(resize.GetMessage())); err != nil {
				return err
			}
		}
		if partly(resize) {
			return printPart(ctx, c, o.Out, resize)
		}
		return nil
	})
}
