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
		Short: "Tell step by step why a pod has the size it has, or will get",
		Long: `Tell step by step why a pod has the size it has, or will get: what its node is and
how that is known, which rule and which ratio hold and who wrote them, the
arithmetic for each resource of a container, what speaks against a resize and what
can be done about it, what holds the pod, what was done to it, and what will happen
now.

What you may not see is said in its step; the others are still told. -o json and
-o yaml are the plan, the ratios, the bounds, the resize and the holds as the API
has them, and in "unknown" why one of them is missing; -o wide is the same as table.`,
		Example: `  # Why does this pod ask for 800m?
  resizectl explain web-6d4cf56db6-x2x7p -n shop`,
		Args: cobra.ArbitraryArgs,
		RunE: command.Steps(o.run, o.pod.Complete),
	}
	o.pod.AddNamespaceFlag(cmd)
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
