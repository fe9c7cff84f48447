package holds

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type holdsOptions struct {
	print.Output
	server *connect.Connection
	// namespace is empty to list all namespaces.
	namespace     string
	allNamespaces bool
}

func newHoldsCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &holdsOptions{Output: out, server: server}
	cmd := &cobra.Command{
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
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("namespace") {
				if err := command.CheckNamespace(cmd, o.namespace, "omit --namespace for every namespace"); err != nil {
					return err
				}
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "list only the holds of this namespace and of the cluster")
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "list the holds of every namespace, regardless of --namespace")
	command.AddListFlags(cmd, &o.Output)
	return cmd
}

func (o *holdsOptions) run(ctx context.Context) error {
	namespace, where := "", ""
	if !o.allNamespaces && o.namespace != "" {
		namespace, where = o.namespace, " in namespace "+print.OneLine(o.namespace)
	}
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.ListHolds(ctx, namespace)
		if err != nil {
			return err
		}
		if err := o.print(resp); err != nil {
			return err
		}
		if resp.GetFreeze() != nil {
			if _, err := fmt.Fprintln(o.ErrOut, print.Freeze(resp.GetFreeze())); err != nil {
				return err
			}
		}
		if len(resp.GetHolds()) == 0 {
			if _, err := fmt.Fprintln(o.ErrOut, "nothing is restored, paused or degraded"+where); err != nil {
				return err
			}
		}
		if resp.GetProblem() != "" {
			_, err = fmt.Fprintf(o.ErrOut, "warning: these are the last holds that could be read: %s\n", print.OneLine(resp.GetProblem()))
		}
		return err
	})
}

func (o *holdsOptions) print(resp *workloadresizerv1.ListHoldsResponse) error {
	if err := print.Sort(o.SortBy, resp.GetHolds()); err != nil {
		return err
	}
	switch {
	case o.Format.IsDocument():
		return o.Document(resp)
	case o.Format.IsListing():
		return print.Listing(&o.Output, holdName, resp.GetHolds()...)
	}
	return o.Table(holdsTable(&o.Output, resp.GetHolds()))
}

var holdColumns = []metav1.TableColumnDefinition{
	print.Column("Namespace"), print.Column("Workload"), print.Column("Pod"), print.Column("Kind"), print.Column("Age"), print.Column("Until"), print.Column("Author"), print.Column("Reason"),
	print.WideColumn("Since"), print.WideColumn("UID"), print.WideColumn("Credential"),
}

func holdsTable(o *print.Output, holds []*workloadresizerv1.Hold) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: holdColumns}
	for _, hold := range holds {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			orEvery(print.ScopeNamespace(hold.GetScope())), scopeWorkload(hold.GetScope()), orEvery(hold.GetScope().GetPod().GetName()), holdKindCell(hold),
			o.Age(hold.GetCreateTime()), print.Timestamp(hold.GetExpireTime()),
			print.OrAbsent(print.OneLine(hold.GetAuthor())), print.OrAbsent(print.OneLine(hold.GetReason())), print.Timestamp(hold.GetCreateTime()), print.OrAbsent(print.OneLine(hold.GetUid())),
			print.OrAbsent(print.OneLine(hold.GetCredentialId())),
		}})
	}
	return table
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
