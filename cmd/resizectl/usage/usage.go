package usage

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type options struct {
	print.Output
	selection
	server *connect.Connection
	by     by
	watch  bool
}

// NewCommand returns usage, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &options{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "usage [WORKLOAD]",
		Short: "Show what workloads request, use and need",
		Long: `Show what workloads request, use and need. The command itself resizes nothing.

By default, usage shows every workload in the namespace that has pods or, with
--all-namespaces, in the cluster. WORKLOAD selects one: TYPE/NAME, such as
deployment/web, or its name alone if no other workload has it.

There is one row per workload, and the totals follow; "*" stands for every namespace,
workload or container. CPU and MEMORY are sums over the containers in all pods,
"authored → recommended". The columns USED have the mean of CPU, and of the highest
memory of each day. SAVED is what the recommendations would free; it is negative if
workloads need more than their authors requested. The columns for a MONTH (730 hours)
are there if the server has prices.

The usage of a pod counts for one workload, for example the Deployment of its ReplicaSet.
If WORKLOAD is a different owner of pods, the rows are about the workloads that these pods
count for, and the sums are over these pods only.

CONTAINERS counts the containers in all pods, and UNKNOWN those without a recommendation,
or on a node whose performance is unknown. These are in none of the sums: what is unknown
is neither zero nor saved. A "-" means that all of them are unknown.

-o wide has one row per container, with the rule that applies and where its demand comes
from. TARGET is the recommendation for one container on the baseline; requests outside of
the bounds are wrong. CONFIDENCE says how much history there is of CPU and of memory: 1
for one sample a minute over a day. ON NODES has the size on each type of node where its
pods run. If nothing is known, the row says why.

Tables round. -o json and -o yaml are exact: "recommendations" has the containers as in the
API, and "workloads", "namespaces" and "total" have the sums over them. Costs are per hour
there. --sort-by and custom columns select fields of what --by selects: --sort-by
.saved.cpu sorts workloads by what they save.

With --watch, there is one row per container, without costs. Changes that no column shows
are omitted.

` + connect.WatchHelp,
		Example: `  # Show what the workloads in a namespace request, use and need
  resizectl usage -n shop

  # Show the workloads in the cluster, those that save most memory last
  resizectl usage -A --sort-by .saved.memory

  # Show what each namespace would save
  resizectl usage -A --by namespace

  # Show the sizes of one workload on the types of nodes where its pods run
  resizectl usage deployment/web -n shop -o wide

  # Print how much CPU the cluster would save
  resizectl usage -A -o json | jq -r .total.saved.cpu`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteWorkloads(server),
		RunE:              command.Steps(o.run, o.complete, o.validate),
		// For names that are similar to those of the commands.
		SuggestionsMinimumDistance: 2,
	}
	o.addFlags(cmd)
	cmd.Flags().Var(command.OneOf(&o.by, "what", groupings), "by", "what a row is about: namespace, workload or container (default: workload, or container with -o wide)")
	command.CompleteFlag(cmd, "by", cobra.FixedCompletions(groupings, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "after the rows, one per container, print those that have changed")
	command.AddListFlags(cmd, &o.Output)
	cmd.AddCommand(
		newExplainCommand(out, server),
		newHistoryCommand(out, server),
		newSavingsCommand(out, server),
		newSourcesCommand(out, server),
	)
	return cmd
}

func (o *options) validate(cmd *cobra.Command, _ []string) error {
	switch {
	case o.watch && o.SortBy.IsSet():
		return command.UsageErrorf(cmd, "--sort-by cannot be combined with --watch: changes arrive in their own order")
	case o.watch && o.labels != "":
		return command.UsageErrorf(cmd, "--selector cannot be combined with --watch: name a workload or a namespace")
	case o.watch && o.by != "" && o.by != byContainer:
		return command.UsageErrorf(cmd, "--by %s cannot be combined with --watch, which prints containers as they change", o.by)
	}
	if o.by == "" {
		if o.by = byWorkload; o.Wide() {
			o.by = byContainer
		}
	}
	if o.Format == print.FormatName && o.by == byContainer {
		o.by = byWorkload // Containers have no names of their own.
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	if o.watch {
		return o.follow(ctx)
	}
	return o.list(ctx, o.server, &o.Output, o.by, func(ctx context.Context, c *client.Client) (*report, error) {
		resp, err := c.ListRecommendations(ctx, o.request())
		if err != nil {
			return nil, err
		}
		return reportOf(resp)
	})
}

// follow prints the containers, and then those whose recommendations or sums have changed.
func (o *options) follow(ctx context.Context) error {
	return o.server.Stream(ctx, func(ctx context.Context, c *client.Client) error {
		if err := o.resolve(ctx, c); err != nil {
			return err
		}
		selected := o.request()
		request := &workloadresizerv1.WatchRecommendationsRequest{Namespace: selected.GetNamespace(), Workload: selected.GetWorkload()}
		events := func(opts ...client.WatchOption) iter.Seq2[client.RecommendationEvent, error] {
			return c.WatchRecommendations(ctx, request, opts...)
		}
		kind := objects.Kind[*workloadresizerv1.Recommendation, *row]{
			Name:    func(item *workloadresizerv1.Recommendation) string { return containerRow(item).name() },
			Rows:    eventRows,
			Columns: o.layout(byContainer).columns(),
		}
		// The confidence and the times in messages change every minute.
		return connect.Follow(ctx, o.IOStreams, events, kind.Events(&o.Output).OnlyVisible(eventKey))
	})
}

// eventRows returns the row of a container. A container whose sums cannot be read has a row, too.
func eventRows(item *workloadresizerv1.Recommendation) []*row {
	r := containerRow(item)
	if err := r.sums.read(item.GetSums()); err != nil {
		r.sums = sums{pods: item.GetSums().GetPods(), unknownPods: item.GetSums().GetPods()}
	}
	return []*row{r}
}

// eventKey returns what identifies a row.
func eventKey(item *workloadresizerv1.Recommendation) string {
	return strings.Join([]string{item.GetNamespace(), print.WorkloadName(item.GetWorkload()), item.GetContainer(), item.GetRule()}, "\x00")
}

type savingsOptions struct {
	print.Output
	selection
	past
	server *connect.Connection
	by     by
}

func newSavingsCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &savingsOptions{Output: out, server: server, by: byWorkload}
	cmd := &cobra.Command{
		Use:   "savings [WORKLOAD]",
		Short: "Show what resizes save now, and what they cost",
		Long: `Show what resizes save now, and what they cost. To see what recommendations
would save, use resizectl usage.

CPU and MEMORY are sums over running pods, "authored → requested": what they would request
as their authors wrote them, and what they request now. SAVED is the difference; it is
negative if pods request more than their authors wrote. USED is what the containers use on
the nodes where they run: the mean of CPU, and of the highest memory of each day. The
columns for a MONTH (730 hours) are there if the server has prices.

A pod requests what the scheduler counts. If an init container needs more than all other
containers together, that is what the pod requests, and smaller containers save nothing. A
request that shrinks counts in full until the node has completed the resize. Pods that are
being deleted count until they are gone.

UNKNOWN counts the pods whose usage is not known: that of a container, or the performance of
their node. USED has nothing of them. A "-" means that the usage of all pods is unknown.

REVERTS counts the reverts that existing pods record, of each resource of each container.
OOM KILLS counts kills for lack of memory that a resize may have caused: existing pods show
that a container was killed that had less memory than its author wrote.

There is one row per workload, and the totals follow; "*" stands for every namespace or
workload, and "-" for pods that count for no workload, such as a pod without a controller.
WORKLOAD selects one, as in resizectl usage.

With --since, it shows what was requested, used and saved over time: CPU in core-hours,
memory in GiB-hours, and what is saved in money at the prices of the nodes. Time before
prices were set has no value. Times are extended to whole hours, and for workloads to whole
days, in UTC; 90 days are kept. PODS is the mean. COUNTED is for how long the amounts are
known, and "-" means that nothing was counted. Pods without a workload are only in totals.
-o wide also has the nodes, in totals of the whole cluster. -o json has means, and
for how long they are known ("knownDuration"). --sort-by compares means.

-o wide also shows what the pods of known usage request (MEASURED), to compare it with what
they use. Tables round. -o json and -o yaml are exact: "savings" has the workloads as in the
API, and "namespaces" and "total" have the sums over them. Costs are per hour there.
--sort-by and custom columns select fields of what --by selects.`,
		Example: `  # Show what the workloads in a namespace save
  resizectl usage savings -n shop

  # Show the namespaces in the cluster, those that save most CPU last
  resizectl usage savings -A --by namespace --sort-by .saved.cpu

  # Show what one workload saves
  resizectl usage savings deployment/web -n shop

  # Show what was saved in a namespace within 30 days, and in the cluster on each day of a week
  resizectl usage savings -n shop --since 30d
  resizectl usage savings -A --since 7d --by day

  # Print how much memory resizes save in the cluster
  resizectl usage savings -A -o json | jq -r .total.saved.memory`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteWorkloads(server),
		RunE: command.Steps(o.run, o.selection.complete, func(cmd *cobra.Command, _ []string) error {
			return o.past.complete(cmd, o.Now(), o.by, &o.selection, o.Format)
		}),
	}
	o.selection.addFlags(cmd)
	o.past.addFlags(cmd)
	cmd.Flags().Var(command.OneOf(&o.by, "what", savingGroups), "by", "what a row is about: namespace or workload; with --since, also day or hour")
	command.CompleteFlag(cmd, "by", cobra.FixedCompletions(savingGroups, cobra.ShellCompDirectiveNoFileComp))
	command.AddListFlags(cmd, &o.Output)
	return cmd
}

// savingGroups are the values of --by.
var savingGroups = append(slices.Clone(groupings[:2]), string(byDay), string(byHour))

func (o *savingsOptions) run(ctx context.Context) error {
	if o.since != nil {
		return o.showPast(ctx)
	}
	return o.list(ctx, o.server, &o.Output, o.by, func(ctx context.Context, c *client.Client) (*report, error) {
		selected := o.selection.request()
		resp, err := c.ListSavings(ctx, &workloadresizerv1.ListSavingsRequest{Namespace: selected.GetNamespace(), LabelSelector: selected.GetLabelSelector(), Workload: selected.GetWorkload()})
		if err != nil {
			return nil, err
		}
		return savingsOf(resp)
	})
}

// unknownUsage says of how many pods the usage is unknown, and where to find why; empty if there are none. Pods that
// count for no workload cannot be explained.
func (r *report) unknownUsage() string {
	unknown := r.total.sums.unknownPods
	if unknown == 0 {
		return ""
	}
	var without int64
	for _, of := range r.rows[byWorkload] {
		if of.workload == nil {
			without += of.sums.unknownPods
		}
	}
	why := "\"resizectl usage explain WORKLOAD\" shows why"
	none := fmt.Sprintf("none is collected of %s without a workload (-)", print.CountOf(without, "pod"))
	switch without {
	case 0:
	case unknown:
		why = none
	default:
		why += "; " + none
	}
	return fmt.Sprintf("the usage of %d of %s is unknown; %s", unknown, print.CountOf(r.total.sums.pods, "pod"), why)
}
