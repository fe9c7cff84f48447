package benchmarks

import (
	"context"
	"io"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
)

// imported is the result of a file.
type imported struct {
	File   string `json:"file"`
	Format string `json:"format"`
	// Rows, Skipped and Bad count rows of the file, the others its samples.
	Rows     int   `json:"rows"`
	Skipped  int   `json:"skipped"`
	Bad      int   `json:"bad"`
	Stored   int64 `json:"stored"`
	Known    int64 `json:"known"`
	Old      int64 `json:"old"`
	Rejected int64 `json:"rejected"`
	// Reasons are the numbers of skipped and bad rows by reason.
	Reasons map[feed.Reason]int `json:"reasons,omitempty"`
	// Faults are about the first bad rows, Rejections about the first rejected samples.
	Faults     []importFault `json:"faults,omitempty"`
	Rejections []importFault `json:"rejections,omitempty"`

	// lines are the lines of the samples.
	lines []int
}

// importFault describes an invalid row or sample.
type importFault struct {
	Line int `json:"line"`
	// Field is empty if the fault is not about a single field.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// send sends the samples to be stored or, with validateOnly, to be checked.
func (i *imported) send(ctx context.Context, c *client.Client, samples []*workloadresizerv1.BenchmarkSample, validateOnly bool, line *print.Progress) error {
	if len(samples) == 0 {
		return nil
	}
	resp, err := c.IngestSamples(ctx, samples, validateOnly, func(sent, total int64) {
		line.Of("importing "+print.OneLine(i.File)+":", sent, total, print.CountOf(total, "sample"))
	})
	line.Clear()
	if err != nil {
		return err
	}
	i.Stored, i.Known, i.Old, i.Rejected = resp.GetStored(), resp.GetKnown(), resp.GetOld(), resp.GetRejected()
	for _, rejected := range resp.GetErrors() {
		fault := importFault{Field: rejected.GetField(), Message: rejected.GetMessage()}
		if n := rejected.GetIndex(); n >= 0 && n < int64(len(i.lines)) {
			fault.Line = i.lines[n]
		}
		i.Rejections = append(i.Rejections, fault)
	}
	return nil
}

// printFaults prints what is wrong with the file, one line each.
func (i *imported) printFaults(w io.Writer) error {
	for _, of := range []struct {
		faults []importFault
		all    int64
		what   string
	}{{i.Faults, int64(i.Bad), "bad"}, {i.Rejections, i.Rejected, "rejected"}} {
		for _, fault := range of.faults {
			if err := printFault(w, i.File, fault.Line, fault.Field, fault.Message); err != nil {
				return err
			}
		}
		if err := printMoreFaults(w, i.File, of.all-int64(len(of.faults)), of.what); err != nil {
			return err
		}
	}
	return nil
}

// print prints the totals; nothing if no file was imported.
func (o *importOptions) print(all []*imported) error {
	if len(all) == 0 {
		return nil
	}
	if !o.Format.IsDocument() {
		return o.Table(importTable(all, o.dryRun.On()))
	}
	return o.Value(map[string]any{"files": all})
}

// importTable returns a table with a row per file, and one for all of them. In a dry run,
// nothing is stored.
func importTable(all []*imported, tried bool) *metav1.Table {
	stored := print.Column("Stored")
	if tried {
		stored = print.Column("Would Be Stored")
	}
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		print.Column("File"), print.Column("Format"), print.Column("Rows"), print.Column("Skipped"), print.Column("Bad"), stored, print.Column("Known"), print.Column("Old"), print.Column("Rejected"),
	}}
	total := make([]int64, 7)
	row := func(name, format string, counts []int64) {
		cells := []any{print.OneLine(name), format}
		for _, n := range counts {
			cells = append(cells, strconv.FormatInt(n, 10))
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
	}
	for _, i := range all {
		counts := []int64{int64(i.Rows), int64(i.Skipped), int64(i.Bad), i.Stored, i.Known, i.Old, i.Rejected}
		row(i.File, i.Format, counts)
		for n, count := range counts {
			total[n] += count
		}
	}
	if len(all) > 1 {
		row("all files", print.Absent, total)
	}
	return table
}
