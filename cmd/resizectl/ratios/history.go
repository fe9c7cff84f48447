package ratios

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

const (
	defaultHistory = 20
	// historyPage is the most that the server returns in one page.
	historyPage = 1000
)

type historyOptions struct {
	print.Output
	server   *connect.Connection
	nodeType string
	limit    int
}

func newHistoryCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &historyOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "history [NODE_TYPE]",
		Short: "List the changes to overrides, newest first",
		Long: `List the changes to overrides, newest first: who made them, when and why, and the
values before and after.

There is one row per change and node type. CPU and MEMORY are the values of the
override; "-" means no override. UNTIL is when it expires, and the permanent override
that then takes effect again, if there is one. When an override expires, that is a
change without an author, whose REASON is expired. "resizectl ratios rollback" takes the
number of a change.`,
		Example: `  # Show the latest changes, and the reasons for them
  resizectl ratios history

  # Show the whole history of n4
  resizectl ratios history n4 --limit 0 -o wide`,
		Args:              command.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: connect.CompleteNodeTypes(server, 1),
		RunE:              command.Steps(o.run, o.complete),
	}
	cmd.Flags().IntVar(&o.limit, "limit", defaultHistory, "maximum number of changes to list; 0 for all that are kept")
	command.AddListFlags(cmd, &o.Output)
	return cmd
}

func (o *historyOptions) complete(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if o.nodeType = args[0]; o.nodeType == "" {
			return command.UsageErrorf(cmd, "the node type is empty; omit it for all of them")
		}
	}
	if o.limit < 0 {
		return command.UsageErrorf(cmd, "--limit %d is negative; use 0 for no limit", o.limit)
	}
	return nil
}

func (o *historyOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		all, err := o.fetch(ctx, c)
		if err != nil {
			return err
		}
		if err := o.print(all); err != nil {
			return err
		}
		switch {
		case len(all.GetChanges()) == 0:
			_, err = fmt.Fprintln(o.ErrOut, "no changes to overrides are kept")
		case all.GetNextPageToken() != "":
			_, err = fmt.Fprintln(o.ErrOut, "there are older changes: --limit 0 lists all that are kept")
		}
		return err
	})
}

// fetch reads pages until there are enough changes. The token of the answer is empty if
// there are no older changes.
func (o *historyOptions) fetch(ctx context.Context, c *client.Client) (*workloadresizerv1.ListOverrideChangesResponse, error) {
	all := &workloadresizerv1.ListOverrideChangesResponse{}
	for {
		size := historyPage
		if o.limit > 0 {
			size = min(size, o.limit-len(all.GetChanges()))
		}
		page, err := c.Overrides().ListOverrideChanges(ctx, &workloadresizerv1.ListOverrideChangesRequest{
			NodeType: o.nodeType, PageSize: int32(size), PageToken: all.GetNextPageToken(),
		})
		if err != nil {
			return nil, err
		}
		all.Changes = append(all.Changes, page.GetChanges()...)
		all.NextPageToken = page.GetNextPageToken()
		if all.NextPageToken == "" || o.limit > 0 && len(all.Changes) >= o.limit {
			return all, nil
		}
	}
}

var historyColumns = append(append([]metav1.TableColumnDefinition{
	print.Column("Change"), print.Column("Age"), print.Column("Author"),
}, deltaColumns...), print.Column("Reason"), print.WideColumn("Time"), print.WideColumn("Rollback To"), print.WideColumn("Credential"))

// changeName returns what -o name prints.
func changeName(change *workloadresizerv1.OverrideChange) string {
	return fmt.Sprintf("change/%d", change.GetNumber())
}

func (o *historyOptions) print(all *workloadresizerv1.ListOverrideChangesResponse) error {
	changes := all.GetChanges()
	if err := print.Sort(o.SortBy, changes); err != nil {
		return err
	}
	switch {
	case o.Format.IsDocument():
		return o.Document(all)
	case o.Format.IsListing():
		return print.Listing(&o.Output, changeName, changes...)
	}
	table := &metav1.Table{ColumnDefinitions: historyColumns}
	for _, change := range changes {
		back := print.Absent
		if change.RollbackTo != nil {
			back = fmt.Sprint(change.GetRollbackTo())
		}
		for _, delta := range change.GetDeltas() {
			cells := append([]any{fmt.Sprint(change.GetNumber()), o.Age(change.GetCreateTime()), print.OrAbsent(print.OneLine(change.GetAuthor()))}, deltaCells(delta)...)
			table.Rows = append(table.Rows, metav1.TableRow{Cells: append(cells, reasonText(change), print.Timestamp(change.GetCreateTime()), back, print.OrAbsent(print.OneLine(change.GetCredentialId())))})
		}
	}
	return o.Table(table)
}

// reasonText returns why a change was made.
func reasonText(change *workloadresizerv1.OverrideChange) string {
	if change.GetExpiry() {
		return "expired"
	}
	return print.OrAbsent(print.OneLine(change.GetReason()))
}
