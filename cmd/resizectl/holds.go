package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type holdsOptions struct {
	genericiooptions.IOStreams
	server *connection
	output format
}

func newHoldsCommand(streams genericiooptions.IOStreams, server *connection) *cobra.Command {
	o := &holdsOptions{IOStreams: streams, server: server}
	cmd := &cobra.Command{
		Use:   "holds",
		Short: "List what is restored or paused, since when, by whom and why",
		Long: `List what is restored or paused, since when, by whom and why.

A "*" stands for every namespace or every pod. Where several cover a pod, a
restore decides before a pause, and a narrower one before a wider one. AUTHOR is
what the author said of themselves.`,
		Args:              positional(cobra.NoArgs),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.output.addFlag(cmd)
	return cmd
}

func (o *holdsOptions) run(ctx context.Context) error {
	return o.server.call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.ListHolds(ctx)
		if err != nil {
			return err
		}
		if err := o.print(resp); err != nil {
			return err
		}
		if len(resp.GetHolds()) == 0 {
			if _, err := fmt.Fprintln(o.ErrOut, "nothing is restored or paused"); err != nil {
				return err
			}
		}
		if resp.GetProblem() != "" {
			_, err = fmt.Fprintf(o.ErrOut, "warning: this is what could be read last: %s\n", oneLine(resp.GetProblem()))
		}
		return err
	})
}

func (o *holdsOptions) print(resp *workloadresizerv1.ListHoldsResponse) error {
	switch o.output {
	case formatJSON, formatYAML:
		return printDocument(o.Out, o.output, resp)
	}
	return printHolds(o.Out, resp.GetHolds(), o.output == formatWide)
}

var holdColumns = []metav1.TableColumnDefinition{
	column("Namespace"), column("Pod"), column("Kind"), column("Since"), column("Until"), column("Author"), column("Reason"),
	wideColumn("UID"),
}

func printHolds(w io.Writer, holds []*workloadresizerv1.Hold, wide bool) error {
	table := &metav1.Table{ColumnDefinitions: holdColumns}
	for _, hold := range holds {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			orEvery(hold.GetScope().GetNamespace()), orEvery(hold.GetScope().GetPod()), kindText(hold.GetKind()),
			timestamp(hold.GetCreateTime()), timestamp(hold.GetExpireTime()),
			orAbsent(oneLine(hold.GetAuthor())), orAbsent(oneLine(hold.GetReason())), orAbsent(oneLine(hold.GetUid())),
		}})
	}
	return printTable(w, table, wide)
}

func orEvery(name string) string {
	if name == "" {
		return "*"
	}
	return oneLine(name)
}
