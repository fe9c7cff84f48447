package holds

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type restoreOptions struct {
	change
	holdOptions
	wait, emergency bool
}

func newRestoreCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &restoreOptions{change: change{Output: out, server: server}}
	cmd := &cobra.Command{
		Use:   "restore " + targetUse,
		Short: "Return pods to their original requests and limits until resumed",
		Long: `Return pods to their original requests and limits, and keep them there until
resumed.

Pods are resized in place to the requests and limits that their author wrote, and
then lose the annotations of workload-resizer. A value stays if its original is
not known or if another actor has set it since; the command names it, and the pod
keeps the annotations. New pods are not resized. A restore survives restarts of
the server. It lasts until "resizectl resume" or, if you set --for, for that long.

With --emergency, the server restores the pods as fast as the API server accepts
writes: they neither take turns (pace.resizesPerSecond in the configuration) nor
count toward its rate of requests (--kube-api-qps). Restoring the same scope
again with or without the flag decides whether the restore in effect is an
emergency from now on.

The command waits until nothing is left to restore, up to --timeout, and prints
the result. Whether or not the command waits, the server continues until the pods
are restored. The exit code is

  0  nothing is left to restore
  1  at least one pod is not restored, for the reason on standard error; with
     --dry-run, at least one pod would be restored, or could not be
  2  an error`,
		Example: `  # Show what would be restored
  resizectl restore -n shop --dry-run

  # Restore a pod
  resizectl restore web-6d4cf56db6-x2x7p -n shop --reason "too slow since it was resized"

  # Restore the pods of a workload
  resizectl restore sts/db -n shop

  # Restore every pod before you remove workload-resizer from a cluster
  resizectl restore -A --timeout 10m

  # Return all sizes as fast as possible, because everything is worse
  resizectl restore -A --emergency --reason "latency has doubled" --timeout 10m`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteObjects(server),
		RunE:              command.Steps(o.run, o.complete, o.validate, o.confirm(func() string { return "Restore every pod in the cluster?" })),
	}
	o.addFlags(cmd, "what would be restored")
	o.addHoldFlags(cmd)
	cmd.Flags().BoolVar(&o.emergency, "emergency", false, "restore as fast as the API server accepts writes, regardless of the server's own limits")
	cmd.Flags().BoolVar(&o.wait, "wait", true, "wait until nothing is left to restore, up to --timeout")
	return cmd
}

func (o *restoreOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		response, err := c.Restore(ctx, &workloadresizerv1.RestoreRequest{
			Scope: o.scope(), Reason: o.reason, Ttl: o.ttlMessage(), ValidateOnly: o.dryRun.On(), Emergency: o.emergency,
		})
		if err != nil {
			return err
		}
		unknown := ""
		if o.emergency && !response.GetHold().GetEmergency() {
			unknown = "warning: the server does not know --emergency yet, and restores these pods at its usual rate"
		}
		if err := print.Texts(o.ErrOut, warnEmpty(o.scope(), response.Pods), unknown); err != nil {
			return err
		}
		switch {
		case o.dryRun.On():
			return o.show(ctx, c)
		case response.GetHold().GetEmergency() && !o.wait:
			return printHold(&o.Output, response.GetHold(), "will be restored as an emergency")
		case !o.wait:
			return printHold(&o.Output, response.GetHold(), "will be restored")
		}
		plans, err := o.await(ctx, c, response.GetHold())
		switch {
		case errors.Is(err, errGone):
			return print.Texts(o.ErrOut, print.Scope(o.scope())+" was deleted, so nothing is left to restore")
		case errors.Is(err, errEnded):
			return fmt.Errorf("the restore of %s has ended before all pods were restored: \"resizectl resume\" or --for ended it", print.Scope(o.scope()))
		case err != nil:
			_, _ = fmt.Fprintf(o.ErrOut, "the server continues to restore %s\n", print.Scope(o.scope()))
			return err
		}
		return o.finish(plans, true)
	})
}

// show prints what would be restored, and returns ErrDifferences if there is anything.
func (o *restoreOptions) show(ctx context.Context, c *client.Client) error {
	plans, err := o.preview(ctx, c)
	if err != nil {
		return err
	}
	if err := o.finish(plans, false); err != nil {
		return err
	}
	if plans.left() > 0 {
		return command.ErrDifferences
	}
	return nil
}

// finish prints the result, or what it would be, and returns ErrNotRestored if some pods are
// not restored. Pods that still have to be resized count if done is set.
func (o *restoreOptions) finish(plans *scopePlans, done bool) error {
	if err := o.print(plans); err != nil {
		return err
	}
	var failed []string
	for _, plan := range plans.plans {
		if why := unrestored(plan, done); why != "" {
			failed = append(failed, fmt.Sprintf("not restored: %s/%s: %s", plan.GetNamespace(), plan.GetPod(), why))
		}
	}
	if err := print.Texts(o.ErrOut, failed...); err != nil {
		return err
	}
	switch {
	case len(failed) > 0:
		return command.ErrNotRestored
	case !done:
		return nil
	}
	until := o.Commands(`"resizectl resume"`)
	if o.ttl > 0 {
		until += " or the end of --for"
	}
	return print.Texts(o.ErrOut, fmt.Sprintf("%s is restored, and is not resized again until %s", print.Scope(o.scope()), until))
}
