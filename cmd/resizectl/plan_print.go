package main

import (
	"bufio"
	"context"
	"io"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// printPlans prints the plans of all pods that are selected. If the answer breaks
// off, what was printed until then is still written out, as one that can be seen
// to have no end.
func (o *planOptions) printPlans(ctx context.Context, c *client.Client) (summary *workloadresizerv1.PlanSummary, err error) {
	out := bufio.NewWriter(o.Out)
	defer func() {
		if flushErr := out.Flush(); err == nil {
			err = flushErr
		}
	}()
	line := o.progressLine()
	defer line.clear()
	printer := newPlanPrinter(out, o.color.painter(o.Out), o.output, o.allNamespaces)
	stream := c.PreviewSelected(ctx, o.request(), append(o.previewOptions(), client.OnProgress(line.planning))...)
	for plan, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		if err := printer.plan(plan); err != nil {
			return nil, err
		}
	}
	line.clear()
	return stream.Summary(), printer.summary(stream.Summary())
}

// previewOptions are those of all previews of pods.
func (o *planOptions) previewOptions() []client.PreviewOption {
	opts := []client.PreviewOption{client.Assuming(o.assumed)}
	if o.serverSide {
		opts = append(opts, client.ServerSide())
	}
	return opts
}

// progressLine is none where plans are printed on the same terminal as they come:
// the two would mix.
func (o *planOptions) progressLine() *progress {
	if o.output.isDocument() && isTerminal(o.Out) {
		return &progress{}
	}
	return newProgress(o.ErrOut)
}

// planPrinter prints plans as they arrive.
type planPrinter interface {
	plan(*workloadresizerv1.Plan) error
	summary(*workloadresizerv1.PlanSummary) error
}

// plansNames prints only which pods there are.
type plansNames struct{ w io.Writer }

func planName(plan *workloadresizerv1.Plan) string { return podName(plan.GetPod()) }

func (p plansNames) plan(plan *workloadresizerv1.Plan) error { return printNames(p.w, planName, plan) }

func (p plansNames) summary(*workloadresizerv1.PlanSummary) error { return nil }

func newPlanPrinter(w io.Writer, p painter, output format, withNamespace bool) planPrinter {
	switch output {
	case formatJSON:
		return &plansJSON{w: w}
	case formatYAML:
		return &plansYAML{w: w}
	case formatName:
		return plansNames{w}
	}
	return newPlansTable(w, p, withNamespace, output == formatWide)
}

func printOnePlan(w io.Writer, p painter, output format, plan *workloadresizerv1.Plan) error {
	switch output {
	case formatJSON, formatYAML:
		return printDocument(w, output, plan)
	case formatName:
		return printNames(w, planName, plan)
	}
	return printPlan(w, p, plan, output == formatWide)
}
