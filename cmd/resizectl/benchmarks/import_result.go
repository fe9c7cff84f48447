package benchmarks

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
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

// faults says what is wrong with the file, one line each.
func (i *imported) faults() (lines []string) {
	for _, of := range []struct {
		faults []importFault
		all    int64
		what   string
	}{{i.Faults, int64(i.Bad), "bad"}, {i.Rejections, i.Rejected, "rejected"}} {
		for _, fault := range of.faults {
			lines = append(lines, faultLine(i.File, fault.Line, fault.Field, fault.Message))
		}
		lines = append(lines, moreFaults(i.File, of.all-int64(len(of.faults)), of.what))
	}
	return lines
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
	stored := "Stored"
	if tried {
		stored = "Would Be Stored"
	}
	if len(all) > 1 {
		total := &imported{File: "all files", Format: print.Absent}
		for _, i := range all {
			total.Rows, total.Skipped, total.Bad = total.Rows+i.Rows, total.Skipped+i.Skipped, total.Bad+i.Bad
			total.Stored, total.Known, total.Old, total.Rejected = total.Stored+i.Stored, total.Known+i.Known, total.Old+i.Old, total.Rejected+i.Rejected
		}
		all = append(slices.Clone(all), total)
	}
	return objects.Table([]objects.Column[*imported]{
		objects.Cell("File", func(i *imported) any { return print.OneLine(i.File) }),
		objects.Cell("Format", func(i *imported) any { return i.Format }),
		objects.Count("Rows", func(i *imported) int64 { return int64(i.Rows) }),
		objects.Count("Skipped", func(i *imported) int64 { return int64(i.Skipped) }),
		objects.Count("Bad", func(i *imported) int64 { return int64(i.Bad) }),
		objects.Count(stored, func(i *imported) int64 { return i.Stored }),
		objects.Count("Known", func(i *imported) int64 { return i.Known }),
		objects.Count("Old", func(i *imported) int64 { return i.Old }),
		objects.Count("Rejected", func(i *imported) int64 { return i.Rejected }),
	}, all...)
}

// faultLine says what is wrong with a row of a file or feed, in the form that editors
// recognize. Line 0 is an unknown line, and an empty field is the whole row.
func faultLine(where string, line int, field, message string) string {
	text := print.OneLine(where)
	if line > 0 {
		text += fmt.Sprintf(":%d", line)
	}
	if field != "" {
		text += ": " + print.OneLine(field)
	}
	return text + ": " + print.OneLine(message)
}

// moreFaults says how many more rows there are that are not shown; empty if there are none.
func moreFaults(where string, n int64, how string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%s: not shown: %s", print.OneLine(where), print.CountOf(n, "more "+how+" row"))
}
