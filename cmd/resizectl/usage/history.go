package usage

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func newHistoryCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &containers{}
	p := page[*workloadresizerv1.GetUsageHistoryResponse](o, server, objects.Verb{
		Use:   "history WORKLOAD",
		Short: "Show what a container used, as a histogram per node type",
		Long: `Show what the containers of a workload with one name used, as a histogram per node
type. WORKLOAD is TYPE/NAME, such as deployment/web, or its name alone if no other
workload has it. --container can be omitted if there is only one name. History is kept for
the workload that pods count for: of a ReplicaSet, that of its Deployment is shown.

Amounts are as measured on the nodes, not converted to the baseline. SHARE is how much of
the history a row has, and UP TO the share of all rows up to this one. A recommendation
takes its percentiles from all node types together. A sample loses half of its weight in
24 hours. Of memory, the highest usage of each pod in each window of 24 hours counts.

Several buckets of the history share a row. -o wide has a row for each, and -o json and
-o yaml print them as in the API.`,
		Example: `  # Show what a Deployment used
  resizectl usage history deployment/web -n shop

  # Print the buckets of one of its containers
  resizectl usage history deployment/web -n shop -c app -o json | jq '.nodeTypes[].cpu[]'`,
	}, "the name of the containers")
	p.Fetch = func(ctx context.Context, c *client.Client, _ *print.Output) (*workloadresizerv1.GetUsageHistoryResponse, error) {
		if err := o.resolve(ctx, c); err != nil {
			return nil, err
		}
		if err := o.chooseContainer(ctx, c); err != nil {
			return nil, err
		}
		return c.GetUsageHistory(ctx, o.namespace, o.workload, o.container)
	}
	p.Text = o.printHistory
	return p.Command(out, server)
}

// chooseContainer sets the container if the workload has only one.
func (o *containers) chooseContainer(ctx context.Context, c *client.Client) error {
	if o.container != "" {
		return nil
	}
	resp, err := c.GetRecommendation(ctx, o.namespace, o.workload)
	if err != nil {
		return err
	}
	names := containersOf(resp)
	switch len(names) {
	case 0:
		return o.noContainer("", nil)
	case 1:
		o.container = names[0]
		return nil
	}
	return fmt.Errorf("%s in namespace %s has %d containers: set --container to one of %s", print.WorkloadName(o.workload), o.namespace, len(names), print.OneLine(strings.Join(names, ", ")))
}

const (
	// mostBars is how many rows a histogram has, unless it has all.
	mostBars = 16
	// barWidth is the width of the longest bar, in characters.
	barWidth = 40
)

// printHistory prints the histograms of all node types.
func (o *containers) printHistory(to *print.Output, resp *workloadresizerv1.GetUsageHistoryResponse) error {
	if of := resp.GetWorkload(); of != nil && print.WorkloadName(of) != print.WorkloadName(o.workload) {
		if err := print.Texts(to.Out, fmt.Sprintf("History of %s, for which the pods of %s count\n", print.WorkloadName(of), print.WorkloadName(o.workload))); err != nil {
			return err
		}
	}
	for i, h := range resp.GetNodeTypes() {
		text := fmt.Sprintf("On %s: %s of CPU", nodeTypeText(h.GetNodeType()), print.CountOf(h.GetSamples(), "sample"))
		if h.GetFirstTime() != nil {
			text += fmt.Sprintf(" from %s to %s", print.Timestamp(h.GetFirstTime()), print.Timestamp(h.GetLastTime()))
		}
		if i > 0 {
			text = "\n" + text
		}
		if err := print.Texts(to.Out, text); err != nil {
			return err
		}
		if err := to.TableBelow(histogram("CPU", h.GetCpu(), coresOf, to.Wide())); err != nil {
			return err
		}
		if err := to.TableBelow(histogram("Memory", h.GetMemory(), bytesOf, to.Wide())); err != nil {
			return err
		}
	}
	return nil
}

// histogram returns a table with a bar per row. Several buckets share a row, unless it has all.
func histogram(name string, buckets []*workloadresizerv1.UsageBucket, text func(float64) string, all bool) *metav1.Table {
	if !all {
		buckets = fold(buckets, (len(buckets)+mostBars-1)/mostBars)
	}
	largest := 0.0
	for _, b := range buckets {
		largest = max(largest, b.GetShare())
	}
	t := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{print.Column(name), print.Column("Share"), print.Column("Up To"), print.Column("")}}
	total := 0.0
	for _, b := range buckets {
		total += b.GetShare()
		bar := ""
		if largest > 0 {
			bar = strings.Repeat("#", int(math.Round(barWidth*b.GetShare()/largest)))
		}
		t.Rows = append(t.Rows, metav1.TableRow{Cells: []any{text(b.GetFrom()) + " to " + text(b.GetTo()), percent(b.GetShare()), percent(total), bar}})
	}
	return t
}

// fold unites as many neighbors of buckets each.
func fold(buckets []*workloadresizerv1.UsageBucket, each int) []*workloadresizerv1.UsageBucket {
	var folded []*workloadresizerv1.UsageBucket
	for i, b := range buckets {
		if i%each == 0 {
			folded = append(folded, &workloadresizerv1.UsageBucket{From: b.GetFrom()})
		}
		last := folded[len(folded)-1]
		last.To, last.Share = b.GetTo(), last.GetShare()+b.GetShare()
	}
	return folded
}

// coresOf and bytesOf return the edges of buckets for people.
func coresOf(x float64) string {
	return print.CPU.Text(*resource.NewMilliQuantity(int64(math.Round(x*1000)), resource.DecimalSI))
}

func bytesOf(x float64) string {
	return print.Memory.Text(*resource.NewQuantity(int64(math.Round(x)), resource.BinarySI))
}
