package plans

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

type explainOptions struct {
	print.Output
	pod    command.Pod
	server *connect.Connection
}

func newExplainCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &explainOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "explain POD",
		Short: "Explain step by step why a pod has its size, or will get a different one",
		Long: `Explain step by step why a pod has its size, or will get a different one.

The steps are

  - the node type of the pod's node, and the label that sets it
  - the rule and the ratio that apply, and where they come from
  - the arithmetic for each resource of each container
  - the reasons against a resize and, for some, the remedies
  - the holds on the pod
  - what was done to the pod, and what happens next

If you are not allowed to see the facts of a step, that step says so, and the
others are complete. -o json and -o yaml print the plan, the ratios, the bounds, the
resize and the holds as in the API; "unknown" says why any of them is missing.
-o wide is the same as table.`,
		Example: `  # Explain why a pod requests 800m
  resizectl explain web-6d4cf56db6-x2x7p -n shop`,
		Args: cobra.ArbitraryArgs,
		RunE: command.Steps(o.run, o.pod.Complete),
	}
	connect.AddNamespaceFlag(cmd, &o.pod.Namespace, "namespace of the pod")
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}

func (o *explainOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		known, err := findOut(ctx, c, o.pod.Namespace, o.pod.Name)
		if err != nil {
			return err
		}
		if o.Format.IsDocument() {
			return printExplanation(o.Out, o.Format, known)
		}
		return printSteps(o.Out, o.Painter(), known)
	})
}
