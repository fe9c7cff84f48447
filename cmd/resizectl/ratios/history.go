package ratios

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	defaultHistory = 20
	// historyPage is the most that the server returns in one page.
	historyPage = 1000
)

// historyQuery selects the changes to list.
type historyQuery struct {
	nodeType string
	limit    objects.Limit
}

func newHistoryCommand(out print.Output, server *connect.Connection) *cobra.Command {
	h := &historyQuery{}
	return objects.List[*workloadresizerv1.OverrideChange, delta]{
		Verb: objects.Verb{
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
			Args:     command.Args(cobra.MaximumNArgs(1)),
			Complete: connect.CompleteNodeTypes(server, 1),
			Flags: func(cmd *cobra.Command) {
				h.limit.AddFlag(cmd, defaultHistory, "changes", "all that are kept")
			},
			Steps: []command.Step{command.Name(&h.nodeType, "the node type is empty; omit it for all of them"), h.limit.Check},
		},
		Kind:  changeKind,
		Fetch: h.fetch,
	}.Command(out, server)
}

func (h *historyQuery) fetch(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[*workloadresizerv1.OverrideChange], error) {
	all := &workloadresizerv1.ListOverrideChangesResponse{}
	if err := h.limit.Read(historyPage, func(size int32) (int, bool, error) {
		page, err := c.Overrides().ListOverrideChanges(ctx, &workloadresizerv1.ListOverrideChangesRequest{
			NodeType: h.nodeType, PageSize: size, PageToken: all.GetNextPageToken(),
		})
		if err != nil {
			return 0, false, err
		}
		all.Changes, all.NextPageToken = append(all.Changes, page.GetChanges()...), page.GetNextPageToken()
		return len(all.Changes), all.NextPageToken != "", nil
	}); err != nil {
		return nil, err
	}
	older := ""
	if len(all.GetChanges()) > 0 && all.GetNextPageToken() != "" {
		older = "there are older changes: --limit 0 lists all that are kept"
	}
	return &objects.Answer[*workloadresizerv1.OverrideChange]{
		Objects: all.GetChanges(), Document: []proto.Message{all}, Empty: "no changes to overrides are kept",
		Remarks: []string{older},
	}, nil
}

func changeKind(o *print.Output) objects.Kind[*workloadresizerv1.OverrideChange, delta] {
	kind := deltaKind
	kind.Columns = slices.Concat([]objects.Column[delta]{
		objects.Cell("Change", func(d delta) any { return fmt.Sprint(d.of.GetNumber()) }),
		objects.Cell("Age", func(d delta) any { return o.Age(d.of.GetCreateTime()) }),
		objects.Text("Author", func(d delta) string { return d.of.GetAuthor() }),
	}, deltaKind.Columns, []objects.Column[delta]{
		objects.Cell("Reason", func(d delta) any { return reasonText(d.of) }),
		objects.Cell("Time", func(d delta) any { return print.Timestamp(d.of.GetCreateTime()) }).Wide(),
		objects.Cell("Rollback To", func(d delta) any { return rollbackTo(d.of) }).Wide(),
		objects.Text("Credential", func(d delta) string { return d.of.GetCredentialId() }).Wide(),
	})
	return kind
}

func rollbackTo(change *workloadresizerv1.OverrideChange) string {
	if change.RollbackTo == nil {
		return print.Absent
	}
	return fmt.Sprint(change.GetRollbackTo())
}

// reasonText returns why a change was made.
func reasonText(change *workloadresizerv1.OverrideChange) string {
	if change.GetExpiry() {
		return "expired"
	}
	return print.OrAbsent(print.OneLine(change.GetReason()))
}

// completeChanges completes a flag that names a change in the history. The newest change is needed most often.
func completeChanges(server *connect.Connection) cobra.CompletionFunc {
	return connect.InOrder(server.CompleteFlag(func(ctx context.Context, c *client.Client) (found []cobra.Completion, err error) {
		resp, err := c.Overrides().ListOverrideChanges(ctx, &workloadresizerv1.ListOverrideChangesRequest{PageSize: defaultHistory})
		for _, change := range resp.GetChanges() {
			found = append(found, cobra.CompletionWithDesc(fmt.Sprint(change.GetNumber()),
				fmt.Sprintf("%s by %s: %s", print.Timestamp(change.GetCreateTime()), print.OrAbsent(print.OneLine(change.GetAuthor())), reasonText(change))))
		}
		return found, err
	}))
}

// overrideText returns the values of an override, in the form that "ratios set" accepts.
func overrideText(o *workloadresizerv1.OverrideValue) string {
	if o == nil {
		return "none"
	}
	text := perfsText(o)
	if o.GetExpireTime() != nil {
		text += " until " + endText(o.GetExpireTime(), o.GetFallback())
	}
	return text
}

func perfsText(o *workloadresizerv1.OverrideValue) string {
	return print.Perf(o.GetCpuPerf()) + "/" + print.Perf(o.GetMemoryPerf())
}

// endText returns when an override ends, and what follows it if that is another override.
func endText(end *timestamppb.Timestamp, fallback *workloadresizerv1.OverrideValue) string {
	text := print.Timestamp(end)
	if fallback != nil {
		text += ", then " + perfsText(fallback)
	}
	return text
}

// Shifted returns "old → new", or just one value if they are equal.
func Shifted(old, new string) string {
	if old == new {
		return old
	}
	return old + " → " + new
}

// delta is what a row is about: how a change changed the override of one node type.
type delta struct {
	of *workloadresizerv1.OverrideChange
	*workloadresizerv1.OverrideDelta
}

func deltasOf(change *workloadresizerv1.OverrideChange) []delta {
	rows := make([]delta, len(change.GetDeltas()))
	for i, d := range change.GetDeltas() {
		rows[i] = delta{change, d}
	}
	return rows
}

// deltaKind describes changes by what they did to overrides.
var deltaKind = objects.Kind[*workloadresizerv1.OverrideChange, delta]{
	Name: func(change *workloadresizerv1.OverrideChange) string {
		return fmt.Sprintf("change/%d", change.GetNumber())
	},
	Rows: deltasOf,
	Columns: []objects.Column[delta]{
		objects.Cell("Node Type", func(d delta) any { return print.OneLine(d.GetNodeType()) }),
		changed("CPU", func(o *workloadresizerv1.OverrideValue) string { return print.Perf(o.GetCpuPerf()) }),
		changed("Memory", func(o *workloadresizerv1.OverrideValue) string { return print.Perf(o.GetMemoryPerf()) }),
		changed("Until", func(o *workloadresizerv1.OverrideValue) string { return endText(o.GetExpireTime(), o.GetFallback()) }),
	},
}

// sides returns the values of a column before and after; "-" is no override or ratio.
func sides[V any](from, to *V, text func(*V) string) string {
	side := func(v *V) string {
		if v == nil {
			return print.Absent
		}
		return text(v)
	}
	return Shifted(side(from), side(to))
}

// changed returns a column with a value of an override before and after.
func changed(header string, text func(*workloadresizerv1.OverrideValue) string) objects.Column[delta] {
	return objects.Cell(header, func(d delta) any { return sides(d.GetFrom(), d.GetTo(), text) })
}

// factorText returns a factor of a ratio, unless its node type is not used.
func factorText(r *workloadresizerv1.Ratio, of func(*workloadresizerv1.Ratio) float64) string {
	if r.GetImplausible() != "" {
		return "not used"
	}
	return print.Factor(of(r))
}

// Shift is how the ratio of a node type changes, from any source; nil means no ratio.
type Shift struct {
	NodeType string
	Old, New *workloadresizerv1.Ratio
}

// ShiftTable shows how ratios change.
func ShiftTable(shifts ...Shift) *metav1.Table { return objects.Table(shiftColumns, shifts...) }

var shiftColumns = []objects.Column[Shift]{
	objects.Cell("Node Type", func(s Shift) any { return print.OneLine(s.NodeType) }),
	shifted("CPU", func(r *workloadresizerv1.Ratio) string { return print.Perf(r.GetCpuPerf()) }),
	shifted("Memory", func(r *workloadresizerv1.Ratio) string { return print.Perf(r.GetMemoryPerf()) }),
	factorShift("CPU Factor", (*workloadresizerv1.Ratio).GetCpuFactor),
	factorShift("Memory Factor", (*workloadresizerv1.Ratio).GetMemoryFactor),
	shifted("Source", func(r *workloadresizerv1.Ratio) string {
		return print.OrAbsent(print.OneLine(r.GetProvenance().GetSource()))
	}),
	shifted("Until", func(r *workloadresizerv1.Ratio) string { return print.Timestamp(r.GetExpireTime()) }),
}

func shifted(header string, text func(*workloadresizerv1.Ratio) string) objects.Column[Shift] {
	return objects.Cell(header, func(s Shift) any { return sides(s.Old, s.New, text) })
}

// factorShift returns a column of a factor. A smaller one frees, a greater one adds, and one that is not used does
// neither.
func factorShift(header string, of func(*workloadresizerv1.Ratio) float64) objects.Column[Shift] {
	return objects.Cell(header, func(s Shift) any {
		cell := print.Cell{Text: sides(s.Old, s.New, func(r *workloadresizerv1.Ratio) string { return factorText(r, of) })}
		from, to := of(s.Old), of(s.New)
		switch {
		case s.New.GetImplausible() != "":
			cell.Style = print.Notable
		case s.Old.GetImplausible() != "" || from == 0 || to == 0 || from == to:
		case to < from:
			cell.Style = print.Freed
		default:
			cell.Style = print.Added
		}
		return cell
	})
}
