package resizes

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

type listOptions struct {
	print.Output
	server *connect.Connection
	selection
	watch bool
}

func newListCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &listOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the pods that were sized",
		Long: `List the pods that were sized in the namespace or, with --all-namespaces, in the
cluster.

` + resizesHelp,
		Example: `  # List the resizes in a namespace
  resizectl resizes list -n shop

  # List the pods whose nodes cannot provide what they request
  resizectl resizes list -A --state deferred,infeasible,failed -o wide`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			request, err := o.request(cmd)
			if err != nil {
				return err
			}
			switch {
			case o.watch && o.SortBy.IsSet():
				return command.UsageErrorf(cmd, "--sort-by cannot be combined with --watch: changes arrive in their own order")
			case o.watch:
				w := &watchOptions{Output: o.Output, server: o.server, selection: o.selection}
				return w.run(cmd.Context(), request)
			}
			return o.run(cmd.Context(), request)
		},
	}
	o.addFlags(cmd, "list")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "after the list, print every resize as it happens, as \"resizectl resizes watch\" does")
	command.AddListFlags(cmd, &o.Output)
	return cmd
}

func (o *listOptions) run(ctx context.Context, request *workloadresizerv1.ListResizesRequest) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		all := &workloadresizerv1.ListResizesResponse{}
		for resize, err := range c.ListResizes(ctx, request) {
			if err != nil {
				return err
			}
			all.Resizes = append(all.Resizes, resize)
		}
		if err := o.print(all); err != nil {
			return err
		}
		if len(all.GetResizes()) == 0 {
			_, err := fmt.Fprintln(o.ErrOut, o.nothingFound())
			return err
		}
		return nil
	})
}

func (o *listOptions) print(all *workloadresizerv1.ListResizesResponse) error {
	if err := print.Sort(o.SortBy, all.GetResizes()); err != nil {
		return err
	}
	switch {
	case o.Format.IsDocument():
		return o.Document(all)
	case o.Format.IsListing():
		return print.Listing(&o.Output, resizeName, all.GetResizes()...)
	}
	if err := o.Table(resizesTable(&o.Output, o.allNamespaces, all.GetResizes()...)); err != nil {
		return err
	}
	return remarkParts(&o.Output, all.GetResizes())
}
