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
	whatIf     WhatIf
	assumed    *workloadresizerv1.WhatIf
	manifest   manifestSource
	// manifestNamespace is the namespace of objects that name none.
	manifestNamespace string
	watch             bool
}

func newPlanCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &planOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "plan [POD | TYPE/NAME]",
		Short: "Show which pods would be resized now, to what size, and why others would not",
		Long: `Show which pods would be resized now, to what size, and why others would not.

By default, plan shows every pod in the namespace or, with --all-namespaces, in
the cluster. POD selects one pod; TYPE/NAME, such as deployment/web, selects the
pods of a workload. --selector, --node and --node-type narrow the selection. There
is one row per container. CPU and MEMORY are its requests, "current → desired" if
they would change. DECISION is

  resize   the pod does not have its desired size
  aligned  the pod has its desired size, except for parts that REASON names
  skip     the pod is left unchanged; REASON says why

REASON lists the reasons of the pod, and is the same for all of its containers;
-o wide adds the messages, which name the container. "resizectl explain POD" shows
them for one pod.

If the rule of any of the pods applies usage, DEMAND says where the demand of a container
comes from: usage, or its author.

The --what-if flags plan with different ratios, bounds or node types, with a different
"demand.mode", or as if no pod were paused, restored or frozen. They show the size that
a pod gets in the end, however long it waits for other pods, budgets or steps (see
"guard" in config.yaml).

With -f, plan shows the pods that manifests would create, for each node type or
for the types in --node-type. These pods do not have to be in the cluster. In a
directory, but not in its subdirectories, plan reads *.yaml, *.yml and *.json. Below
the table, one line per node type shows the number of objects by decision, and the sum
of the changes in their requests, counting one pod per object. A pod without a
controller is planned as if it had one, with a warning; in a cluster, it is skipped
(NotOwned). Objects that name no namespace are in that of --namespace or, with a server,
of the kubeconfig context. If you also set --config, plan uses that configuration on
this machine, and no server.

With --watch, every change in a plan follows the table, as "resizectl resizes watch"
shows those of resizes; with -o json and other documents, the plan itself. ` + connect.PollHelp + `

Nothing is changed. The exit code is as for "kubectl diff":

  0  there is nothing to resize
  1  at least one pod would be resized; for a manifest, on at least one node type
  2  an error; the output is not complete`,
		Example: `  # Show whether a pod would be resized, and why
  resizectl plan web-6d4cf56db6-x2x7p -n shop

  # Show every pod of a namespace, with limits, originals, factors and full reasons
  resizectl plan -n shop -o wide

  # Plan the pods of a Deployment as if n4 were 1.08 times as fast as the baseline
  resizectl plan deployment/web -n shop --what-if-ratio n4=1.08

  # Show what the pods of a node would need on c3
  resizectl plan -A --node node-1 --what-if-node-type c3

  # Show the sizes that follow from usage, before you set "mode: apply"
  resizectl plan -n shop --what-if-mode apply -o wide

  # Show what would be resized if you ended all pauses, restores and freezes
  resizectl plan -A --what-if-resumed

  # Watch the plans of a namespace change during a rollout
  resizectl plan -n shop --watch

  # Show the sizes of a manifest on each node type, before you apply it
  resizectl plan -f deploy.yaml

  # Plan a manifest in a pipeline, without a cluster
  resizectl plan -f deploy.yaml --config config.yaml --node-type n4,c3

  # Plan the Rollouts of a manifest, too
  resizectl plan -f rollout.yaml --config config.yaml --workload-kinds rollouts.argoproj.io

  # Print the names of all pods that would be resized
  resizectl plan -A -o json | jq -r '.plans[] | select(.decision == "DECISION_RESIZE") | .namespace + "/" + .pod'`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteObjects(server),
		RunE:              command.Steps(o.run, o.complete, o.validate),
	}
	o.addSelectionFlags(cmd)
	cmd.Flags().BoolVar(&o.serverSide, "server-side-preview", false, "also send each resize, but not the annotations, to the API server as a dry run; cannot be combined with --what-if flags")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "after the plans, print every plan that has changed")
	o.whatIf.addFlags(cmd)
	o.manifest.addFlags(cmd)
	command.CompleteFlag(cmd, "node", connect.CompleteNodes(server))
	command.CompleteFlag(cmd, "node-type", connect.CompleteNodeTypeFlag(server, true))
	command.CompleteFlag(cmd, "what-if-node-type", connect.CompleteNodeTypeFlag(server, false))
	command.CompleteFlag(cmd, whatIfMode, cobra.FixedCompletions(Modes, cobra.ShellCompDirectiveNoFileComp))
	command.CompleteFlag(cmd, whatIfProduction, cobra.FixedCompletions(ProductionModes, cobra.ShellCompDirectiveNoFileComp))
	command.CompleteFlag(cmd, "what-if-baseline", connect.CompleteNodeTypeFlag(server, false))
	command.AddListFlags(cmd, &o.Output)
	return cmd
}

func (o *planOptions) complete(cmd *cobra.Command, args []string) (err error) {
	if err := o.selection.complete(cmd, args); err != nil {
		return err
	}
	switch {
	case cmd.Flags().Changed("namespace"):
		o.manifestNamespace = o.namespace
	case o.manifest.named() && o.manifest.config == "":
		o.manifestNamespace = o.server.NamespaceOfManifests()
	}
	o.assumed, err = o.whatIf.complete(cmd)
	return err
}

func (o *planOptions) validate(cmd *cobra.Command, args []string) error {
	switch {
	case o.watch && o.manifest.named():
		return command.UsageErrorf(cmd, "--watch is for pods in the cluster, and cannot be combined with -f")
	case o.watch && o.SortBy.IsSet():
		return command.UsageErrorf(cmd, "--sort-by cannot be combined with --watch: changes arrive in their own order")
	}
	if o.manifest.named() {
		return o.manifest.validate(cmd, len(args) > 0)
	}
	if cmd.Flags().Changed("config") {
		return command.UsageErrorf(cmd, "--config requires a manifest: set it with -f FILE")
	}
	if o.serverSide && o.assumed != nil {
		return command.UsageErrorf(cmd, "--server-side-preview asks about the ratios in effect: it cannot be combined with --what-if flags")
	}
	return o.selection.validate(cmd)
}

func (o *planOptions) run(ctx context.Context) error {
	if o.manifest.named() {
		return o.runManifest(ctx)
	}
	if o.watch {
		return o.watchPlans(ctx)
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
	if err := PrintOne(&o.Output, plan, verdict); err != nil {
		return err
	}
	if plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE {
		return command.ErrDifferences
	}
	return nil
}

// misnamed reports whether nothing shows that the workload exists: the server knows workloads only by
// their pods.
func (o *planOptions) misnamed(summary *workloadresizerv1.PlanSummary) bool {
	return summary.GetPods() == 0 && o.workload != nil && o.labels == "" && o.node == "" && len(o.nodeTypes) == 0
}

func (o *planOptions) runPods(ctx context.Context, c *client.Client) error {
	summary, err := o.printPlans(ctx, c)
	if err != nil {
		return err
	}
	if err := print.Texts(o.ErrOut, print.Hidden(summary.GetIncomplete(), "pods")); err != nil {
		return err
	}
	if summary.GetPods() == 0 {
		found := "no pods found "
		if summary.GetIncomplete() {
			found = "no pods found that you can see "
		}
		found = strings.TrimSpace(found + o.where())
		if o.misnamed(summary) {
			return fmt.Errorf("%s: check the name and the namespace, or whether it is scaled to zero", found)
		}
		if err := print.Texts(o.ErrOut, found); err != nil {
			return err
		}
	}
	if summary.GetResize() > 0 {
		return command.ErrDifferences
	}
	return nil
}

// NewCommands returns plan and explain.
func NewCommands(out print.Output, server *connect.Connection) []*cobra.Command {
	return []*cobra.Command{
		newPlanCommand(out, server),
		newExplainCommand(out, server),
	}
}
