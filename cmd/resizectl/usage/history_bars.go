package usage

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	// mostBars is how many rows a histogram has, unless it has all.
	mostBars = 16
	// barWidth is the width of the longest bar, in characters.
	barWidth = 40
)

// print prints the histograms of all node types.
func (o *historyOptions) print(resp *workloadresizerv1.GetUsageHistoryResponse) error {
	if of := resp.GetWorkload(); of != nil && print.WorkloadName(of) != print.WorkloadName(o.workload) {
		if _, err := fmt.Fprintf(o.Out, "History of %s, for which the pods of %s count\n\n", print.WorkloadName(of), print.WorkloadName(o.workload)); err != nil {
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
		if _, err := fmt.Fprintln(o.Out, text); err != nil {
			return err
		}
		for _, of := range []struct {
			name    string
			buckets []*workloadresizerv1.UsageBucket
			text    func(float64) string
		}{{"CPU", h.GetCpu(), coresOf}, {"Memory", h.GetMemory(), bytesOf}} {
			if len(of.buckets) == 0 {
				continue
			}
			if _, err := fmt.Fprintln(o.Out); err != nil {
				return err
			}
			if err := o.Table(histogram(of.name, of.buckets, of.text, o.Wide())); err != nil {
				return err
			}
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
	return cores(*resource.NewMilliQuantity(int64(math.Round(x*1000)), resource.DecimalSI))
}

func bytesOf(x float64) string {
	return bytes(*resource.NewQuantity(int64(math.Round(x)), resource.BinarySI))
}
