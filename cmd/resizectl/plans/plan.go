package plans

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type planOptions struct {
	print.Output
	selection
	server     *connect.Connection
	serverSide bool
	whatIf     whatIf
	assumed    *workloadresizerv1.WhatIf
	manifest   manifestSource
}

func newPlanCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &planOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "plan [POD | TYPE/NAME]",
		Short: "Show what would be resized now, to what, and if not, why not",
		Long: `Show what would be resized now, to what, and if not, why not.

Without POD every pod of the namespace is shown, with --all-namespaces every pod
of the cluster; TYPE/NAME, such as deployment/web, is the pods of a workload.
--selector, --node and --node-type choose among them. There is a row per
container. CPU and MEMORY are its requests, "current → desired" where they would
change. DECISION is

  resize   the pod has other requests or limits than it should have on its node
  aligned  it has what it should have
  skip     it is left alone; REASON says why

With --what-if-… the plan is that of other ratios, bounds or node types.

With -f the pods are those that manifests would make, planned for each node type,
or for those that --node-type names. They need not be in the cluster. Of a
directory *.yaml, *.yml and *.json are read. Below the table is a line per node type:
how many objects are decided how, and by how much their requests would change, counted
for one pod of each. With --config too, no server is asked: the manifests are
planned with that configuration, on this machine.

Nothing is changed. The exit code is that of "kubectl diff":

  0  there is nothing to resize
  1  at least one pod would be resized; of a manifest, on at least one node type
  2  an error; the output is not complete`,
		Example: `  # Why was this pod (not) resized?
  resizectl plan web-6d4cf56db6-x2x7p -n shop

  # Every pod of a namespace, with limits, originals, factors and the reasons in full
  resizectl plan -n shop -o wide

  # The pods of a Deployment, if n4 were measured as 1.08 times as fast as the baseline
  resizectl plan deployment/web -n shop --what-if-ratio n4=1.08

  # What would the pods of a node need on c3?
  resizectl plan -A --node node-1 --what-if-node-type c3

  # What would a manifest get on each node type, before it is applied?
  resizectl plan -f deploy.yaml

  # The same in a pipeline, without a cluster
  resizectl plan -f deploy.yaml --config config.yaml --node-type n4,c3

  # The names of all pods that would be resized
  resizectl plan -A -o json | jq -r '.plans[] | select(.decision == "DECISION_RESIZE") | .namespace + "/" + .pod'`,
		Args: cobra.ArbitraryArgs,
		RunE: command.Steps(o.run, o.complete, o.validate),
	}
	o.addSelectionFlags(cmd)
	cmd.Flags().BoolVar(&o.serverSide, "server-side-preview", false, "have the API server asked too, by a dry run of what would be written")
	o.whatIf.addFlags(cmd)
	o.manifest.addFlags(cmd)
	command.CompleteFlag(cmd, "node-type", connect.CompleteNodeTypeFlag(server, true))
	command.CompleteFlag(cmd, "what-if-node-type", connect.CompleteNodeTypeFlag(server, false))
	command.CompleteFlag(cmd, "what-if-baseline", connect.CompleteNodeTypeFlag(server, false))
	command.AddNamingFlag(cmd, &o.Format)
	return cmd
}

func (o *planOptions) complete(cmd *cobra.Command, args []string) (err error) {
	if err := o.selection.complete(cmd, args); err != nil {
		return err
	}
	o.assumed, err = o.whatIf.message(cmd)
	return err
}

func (o *planOptions) validate(cmd *cobra.Command, args []string) error {
	if o.manifest.named() {
		return o.manifest.validate(cmd, len(args) > 0)
	}
	if cmd.Flags().Changed("config") {
		return command.UsageErrorf(cmd, "--config is for a manifest: name that with -f FILE")
	}
	return o.selection.validate(cmd)
}

func (o *planOptions) run(ctx context.Context) error {
	if o.manifest.named() {
		return o.runManifest(ctx)
	}
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		if o.pod != "" {
			return o.runPod(ctx, c)
		}
		return o.runPods(ctx, c)
	})
}

func (o *planOptions) runPod(ctx context.Context, c *client.Client) error {
	plan, err := c.PreviewPod(ctx, o.namespace, o.pod, o.previewOptions()...)
	if err != nil {
		return err
	}
	if err := PrintOne(o.Out, o.Painter(), o.Format, plan); err != nil {
		return err
	}
	if plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE {
		return command.ErrDifferences
	}
	return nil
}

func (o *planOptions) runPods(ctx context.Context, c *client.Client) error {
	summary, err := o.printPlans(ctx, c)
	if err != nil {
		return err
	}
	if err := print.WarnHidden(o.ErrOut, summary.GetHiddenNamespaces(), "pods"); err != nil {
		return err
	}
	if summary.GetPods() == 0 {
		found := "no pods found "
		if summary.GetHiddenNamespaces() > 0 {
			found = "no pods found that you may see "
		}
		if _, err := fmt.Fprintln(o.ErrOut, strings.TrimSpace(found+o.where())); err != nil {
			return err
		}
	}
	if summary.GetResize() > 0 {
		return command.ErrDifferences
	}
	return nil
}
