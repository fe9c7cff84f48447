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
	printer := NewPrinter(out, &o.Output, o.allNamespaces)
	planned := func(done, total int64) { line.Of("planning", done, total, print.CountOf(total, "pod")) }
	stream := c.PreviewSelected(ctx, o.request(), append(o.previewOptions(), client.OnProgress(planned))...)
	for plan, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		if err := printer.Plan(plan); err != nil {
			return nil, err
		}
	}
	line.Clear()
	if o.misnamed(stream.Summary()) {
		return stream.Summary(), nil
	}
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

// NewPrinter returns a printer of plans to w; withNamespace adds a column with the namespace to a
// table.
func NewPrinter(w io.Writer, o *print.Output, withNamespace bool) Printer {
	printer := newPrinter(w, o, withNamespace)
	if o.SortBy.IsSet() {
		return &sortedPlans{by: o.SortBy, to: printer}
	}
	return printer
}

func newPrinter(w io.Writer, o *print.Output, withNamespace bool) Printer {
	switch {
	case o.Format == print.FormatJSON:
		return &plansJSON{w: w}
	case o.Format == print.FormatYAML:
		return &plansYAML{w: w}
	case o.Format.IsDocument():
		return &plansDocument{w: w, format: o.Format, plans: []any{}}
	case o.Format.IsListing():
		return &plansList{lister: print.NewLister(w, o, planName), names: o.Format == print.FormatName}
	}
	return &plansTable{w: w, output: o, kind: planKind(withNamespace)}
}

// sortedPlans keeps the plans until it knows their order.
type sortedPlans struct {
	by    print.SortPath
	to    Printer
	plans []*workloadresizerv1.Plan
}

func (p *sortedPlans) Plan(plan *workloadresizerv1.Plan) error {
	p.plans = append(p.plans, plan)
	return nil
}

func (p *sortedPlans) Summary(s *workloadresizerv1.PlanSummary) error {
	if err := print.Sort(p.by, p.plans); err != nil {
		return err
	}
	for _, plan := range p.plans {
		if err := p.to.Plan(plan); err != nil {
			return err
		}
	}
	return p.to.Summary(s)
}

// plansList prints only the pods. Columns are as wide as their widest cells, so it keeps the plans for
// these.
type plansList struct {
	lister *print.Lister[*workloadresizerv1.Plan]
	names  bool
	plans  []*workloadresizerv1.Plan
}

func (p *plansList) Plan(plan *workloadresizerv1.Plan) error {
	if p.names {
		return p.lister.Print(plan)
	}
	p.plans = append(p.plans, plan)
	return nil
}

func (p *plansList) Summary(*workloadresizerv1.PlanSummary) error {
	if p.names {
		return nil
	}
	return p.lister.Print(p.plans...)
}

// PrintOne prints the plan of one pod that was requested by name. Below a table, verdict
// begins the line of each reason.
func PrintOne(o *print.Output, plan *workloadresizerv1.Plan, verdict func(*workloadresizerv1.Plan) string) error {
	switch {
	case o.Format.IsDocument():
		return o.Document(plan)
	case o.Format.IsListing():
		return print.Listing(o, planName, plan)
	}
	return printPlan(o, plan, verdict)
}
