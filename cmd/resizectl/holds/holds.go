package holds

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func newHoldsCommand(out print.Output, server *connect.Connection) *cobra.Command {
	namespace, all := "", false
	return objects.List[*workloadresizerv1.Hold, *workloadresizerv1.Hold]{
		Verb: objects.Verb{
			Use:   "holds",
			Short: "List restores, pauses and open breakers, with their start, author and reason",
			Long: `List restores, pauses and open breakers, with their start, author and reason. The
list covers every namespace; with --namespace, it covers that namespace and the
holds of the cluster.

"*" stands for every namespace, workload or pod. If several holds cover a pod, a
restore takes precedence over a pause, that over a breaker, and a narrower hold
over a wider one. A freeze, which standard error reports, outranks them all.
AUTHOR is the authenticated caller, or the name that an unauthenticated caller
gave.`,
			Example: `  # List all holds
  resizectl holds

  # List the holds that affect a namespace
  resizectl holds -n shop`,
			Flags: func(cmd *cobra.Command) {
				cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "list only the holds of this namespace and of the cluster")
				cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the holds of every namespace, regardless of --namespace")
			},
			Steps: []command.Step{func(cmd *cobra.Command, _ []string) error {
				if !cmd.Flags().Changed("namespace") {
					return nil
				}
				return command.CheckNamespace(cmd, namespace, "omit --namespace for every namespace")
			}},
		},
		Kind: Kind,
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[*workloadresizerv1.Hold], error) {
			if all {
				namespace = ""
			}
			resp, err := c.ListHolds(ctx, namespace)
			if err != nil {
				return nil, err
			}
			return &objects.Answer[*workloadresizerv1.Hold]{
				Objects: resp.GetHolds(), Document: []proto.Message{resp},
				Remarks: remarks(resp, namespace),
			}, nil
		},
	}.Command(out, server)
}

// remarks say which freeze outranks the holds, that a namespace has none, or that they are not current.
func remarks(resp *workloadresizerv1.ListHoldsResponse, namespace string) (texts []string) {
	if resp.GetFreeze() != nil {
		texts = append(texts, print.Freeze(resp.GetFreeze()))
	}
	if len(resp.GetHolds()) == 0 {
		where := ""
		if namespace != "" {
			where = " in namespace " + print.OneLine(namespace)
		}
		texts = append(texts, "nothing is restored, paused or degraded"+where)
	}
	if resp.GetProblem() != "" {
		texts = append(texts, "warning: these are the last holds that could be read: "+print.OneLine(resp.GetProblem()))
	}
	return texts
}

// Kind describes holds.
func Kind(o *print.Output) objects.Kind[*workloadresizerv1.Hold, *workloadresizerv1.Hold] {
	type hold = *workloadresizerv1.Hold
	return objects.Kind[hold, hold]{
		Name: holdName,
		Rows: objects.Itself[hold],
		Columns: []objects.Column[hold]{
			objects.Cell("Namespace", func(h hold) any { return orEvery(print.ScopeNamespace(h.GetScope())) }),
			objects.Cell("Workload", func(h hold) any { return scopeWorkload(h.GetScope()) }),
			objects.Cell("Pod", func(h hold) any { return orEvery(h.GetScope().GetPod().GetName()) }),
			objects.Cell("Kind", func(h hold) any { return holdKindCell(h) }),
			objects.Cell("Age", func(h hold) any { return o.Age(h.GetCreateTime()) }),
			objects.Cell("Until", func(h hold) any { return print.Timestamp(h.GetExpireTime()) }),
			objects.Text("Author", hold.GetAuthor),
			objects.Text("Reason", hold.GetReason),
			objects.Cell("Since", func(h hold) any { return print.Timestamp(h.GetCreateTime()) }).Wide(),
			objects.Text("UID", hold.GetUid).Wide(),
			objects.Text("Credential", hold.GetCredentialId).Wide(),
		},
	}
}

// holdName returns the name of what a hold covers, in kubectl's form.
func holdName(hold *workloadresizerv1.Hold) string {
	scope := hold.GetScope()
	switch {
	case scope.GetPod() != nil:
		return print.PodName(scope.GetPod().GetName())
	case scope.GetWorkload() != nil:
		return print.WorkloadName(scope.GetWorkload())
	}
	return "namespace/" + orEvery(scope.GetNamespace())
}

// holdKindCell stands out for a hold of the whole cluster, and for an emergency.
func holdKindCell(hold *workloadresizerv1.Hold) print.Cell {
	kind := print.Cell{Text: print.HoldKind(hold)}
	if hold.GetScope().GetAllNamespaces() != nil || hold.GetEmergency() {
		kind.Style = print.Notable
	}
	return kind
}

// scopeWorkload returns the workload of a scope. The scope of a pod does not name its
// workload.
func scopeWorkload(s *workloadresizerv1.HoldScope) string {
	switch {
	case s.GetWorkload() != nil:
		return print.WorkloadName(s.GetWorkload())
	case s.GetPod() != nil:
		return print.Absent
	}
	return "*"
}

func orEvery(name string) string {
	if name == "" {
		return "*"
	}
	return print.OneLine(name)
}

// NewCommands returns pause, restore, resume, freeze, unfreeze and holds.
func NewCommands(out print.Output, server *connect.Connection) []*cobra.Command {
	return []*cobra.Command{
		newPauseCommand(out, server),
		newRestoreCommand(out, server),
		newResumeCommand(out, server),
		newFreezeCommand(out, server),
		newUnfreezeCommand(out, server),
		newHoldsCommand(out, server),
	}
}
