package holds

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

type pauseOptions struct {
	change
	holdOptions
}

func newPauseCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &pauseOptions{change: change{Output: out, server: server}}
	cmd := &cobra.Command{
		Use:   "pause " + targetUse,
		Short: "Stop resizing pods until resumed",
		Long: `Stop resizing pods until resumed.

Neither running pods nor new pods are resized while they are paused. Pods that
were resized before keep their size, even if it makes them worse: reverts stop,
too. To undo resizes, use "resizectl restore". A pause survives restarts of the
server. It lasts until "resizectl resume" or, if you set --for, for that long. A
restore takes precedence over a pause: restored pods stay restored, and the pause
applies when the restore ends.`,
		Example: `  # Pause a namespace for two hours
  resizectl pause -n shop --for 2h --reason "load test"

  # Pause the pods of a Deployment, including new ones
  resizectl pause deployment/web -n shop

  # Stop resizing in the whole cluster
  resizectl pause -A`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteObjects(server),
		RunE:              command.Steps(o.run, o.complete, o.validate, o.confirm(func() string { return "Stop resizing every pod in the cluster?" })),
	}
	o.addFlags(cmd, "what would be paused")
	o.addHoldFlags(cmd)
	return cmd
}

func (o *pauseOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		response, err := c.Pause(ctx, &workloadresizerv1.PauseRequest{
			Scope: o.scope(), Reason: o.reason, Ttl: o.ttlMessage(), ValidateOnly: o.dryRun.On(),
		})
		if err != nil {
			return err
		}
		if err := printHold(&o.Output, response.GetHold(), o.did("is paused", "would be paused")); err != nil {
			return err
		}
		overruled := ""
		if over := response.GetOverruledBy(); over != nil {
			overruled = fmt.Sprintf("the restore of %s takes precedence; the pause applies when it ends", print.Scope(over.GetScope()))
		}
		return print.Texts(o.ErrOut, overruled, warnEmpty(o.scope(), response.Pods))
	})
}
