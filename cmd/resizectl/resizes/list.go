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
	server        *connect.Connection
	namespace     string
	allNamespaces bool
	labels        string
	states        []string
	watch         bool
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
			if o.watch {
				return o.runWatch(cmd)
			}
			return o.run(cmd.Context(), request)
		},
	}
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "default", "namespace of the pods")
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "list the pods in every namespace, regardless of --namespace")
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", "only pods with these labels, such as app=web,tier!=cache")
	addStateFlag(cmd, &o.states)
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "after the list, print every resize as it happens, as \"resizectl resizes watch\" does")
	command.AddNamingFlag(cmd, &o.Format)
	return cmd
}

func (o *listOptions) request(cmd *cobra.Command) (*workloadresizerv1.ListResizesRequest, error) {
	if o.namespace == "" {
		return nil, command.UsageErrorf(cmd, "the namespace is empty; use --all-namespaces for every namespace")
	}
	states, err := parseStates(cmd, o.states)
	if err != nil {
		return nil, err
	}
	request := &workloadresizerv1.ListResizesRequest{Namespace: o.namespace, LabelSelector: o.labels, States: states}
	if o.allNamespaces {
		request.Namespace = ""
	}
	return request, nil
}

func (o *listOptions) runWatch(cmd *cobra.Command) error {
	if o.labels != "" || len(o.states) > 0 {
		return command.UsageErrorf(cmd, "--watch cannot be combined with --selector or --state")
	}
	w := &watchOptions{
		Output: o.Output, server: o.server,
		namespace: o.namespace, allNamespaces: o.allNamespaces,
	}
	return w.run(cmd.Context())
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
	if o.Format.IsDocument() {
		return o.Document(all)
	}
	if o.Format == print.FormatName {
		return print.Names(o.Out, resizeName, all.GetResizes()...)
	}
	if err := o.Table(resizesTable(o.allNamespaces, all.GetResizes()...)); err != nil {
		return err
	}
	return remarkParts(o.ErrOut, all.GetResizes())
}

func (o *listOptions) nothingFound() string {
	found := "no pods found that were sized"
	if o.labels != "" || len(o.states) > 0 {
		found = "no matching pods found that were sized"
	}
	if o.allNamespaces {
		return found
	}
	return found + " in namespace " + o.namespace
}
