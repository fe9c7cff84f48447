package plans

import (
	"bufio"
	"context"
	"io"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// printPlans prints the plans of all selected pods. If the answer ends early, it still writes
// the plans so far, and the output is recognizably incomplete.
func (o *planOptions) printPlans(ctx context.Context, c *client.Client) (summary *workloadresizerv1.PlanSummary, err error) {
	out := bufio.NewWriter(o.Out)
	defer func() {
		if flushErr := out.Flush(); err == nil {
			err = flushErr
		}
	}()
	line := o.progressLine()
	defer line.Clear()
	printer := NewPrinter(out, o.Painter(), o.Format, o.allNamespaces)
	stream := c.PreviewSelected(ctx, o.request(), append(o.previewOptions(), client.OnProgress(line.Planning))...)
	for plan, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		if err := printer.Plan(plan); err != nil {
			return nil, err
		}
	}
	line.Clear()
	return stream.Summary(), printer.Summary(stream.Summary())
}

// previewOptions returns the options of all previews of pods.
func (o *planOptions) previewOptions() []client.PreviewOption {
	opts := []client.PreviewOption{client.Assuming(o.assumed)}
	if o.serverSide {
		opts = append(opts, client.ServerSide())
	}
	return opts
}

// progressLine returns a line that shows nothing if plans are printed on the same terminal as
// they arrive: the two would mix.
func (o *planOptions) progressLine() *print.Progress {
	if o.Format.IsDocument() && print.IsTerminal(o.Out) {
		return &print.Progress{}
	}
	return print.NewProgress(o.ErrOut)
}

// Printer prints plans as they arrive.
type Printer interface {
	Plan(*workloadresizerv1.Plan) error
	Summary(*workloadresizerv1.PlanSummary) error
}

// plansNames prints only the names of the pods.
type plansNames struct{ w io.Writer }

func planName(plan *workloadresizerv1.Plan) string { return print.PodName(plan.GetPod()) }

func (p plansNames) Plan(plan *workloadresizerv1.Plan) error { return print.Names(p.w, planName, plan) }

func (p plansNames) Summary(*workloadresizerv1.PlanSummary) error { return nil }

// NewPrinter returns a printer of plans in a format; withNamespace adds a column with the
// namespace to a table.
func NewPrinter(w io.Writer, p print.Painter, output print.Format, withNamespace bool) Printer {
	switch output {
	case print.FormatJSON:
		return &plansJSON{w: w}
	case print.FormatYAML:
		return &plansYAML{w: w}
	case print.FormatName:
		return plansNames{w}
	}
	return newPlansTable(w, p, withNamespace, output == print.FormatWide)
}

// PrintOne prints the plan of one pod that was requested by name. Below a table, verdict
// begins the line of each reason.
func PrintOne(w io.Writer, p print.Painter, output print.Format, plan *workloadresizerv1.Plan, verdict func(*workloadresizerv1.Plan) string) error {
	switch output {
	case print.FormatJSON, print.FormatYAML:
		return print.Document(w, output, plan)
	case print.FormatName:
		return print.Names(w, planName, plan)
	}
	return printPlan(w, p, plan, output == print.FormatWide, verdict)
}
