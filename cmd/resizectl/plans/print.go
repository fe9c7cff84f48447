package plans

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
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
	planned := func(done, total int64) {
		// Most answers are complete before the second message, and a bar would only flicker.
		if done > 0 {
			line.Of("planning", done, total, print.CountOf(total, "pod"))
		}
	}
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

// Printer prints plans. It prints them as they arrive if it can, so that the plans of a large cluster are not held in
// memory.
type Printer struct {
	w      io.Writer
	o      *print.Output
	kind   objects.Kind[*workloadresizerv1.Plan, row]
	lister *print.Lister[*workloadresizerv1.Plan]
	// kept are the plans that are printed together; printed counts the others.
	kept    []*workloadresizerv1.Plan
	printed int
}

// NewPrinter returns a printer of plans to w; withNamespace adds a column with the namespace to a
// table.
func NewPrinter(w io.Writer, o *print.Output, withNamespace bool) *Printer {
	return &Printer{w: w, o: o, kind: planKind(withNamespace), lister: print.NewLister(w, o, planName)}
}

// Plan prints a plan, or keeps it: to sort them, for columns that are as wide as their widest cells, or for a
// template that selects from all.
func (p *Printer) Plan(plan *workloadresizerv1.Plan) error {
	format := p.o.Format
	if !p.o.SortBy.IsSet() && (format == print.FormatJSON || format == print.FormatYAML || format == print.FormatName) {
		return p.print(plan)
	}
	p.kept = append(p.kept, plan)
	return nil
}

// print prints the next plan. If the stream ends early, JSON is incomplete, and no parser accepts it. Incomplete YAML
// is still YAML, but has no summary, and the exit code reports an error.
func (p *Printer) print(plan *workloadresizerv1.Plan) error {
	p.printed++
	switch p.o.Format {
	case print.FormatJSON:
		return p.part(print.JSON, plan, p.lead("{\n  \"plans\": [\n    ", ",\n    "), "    ", "")
	case print.FormatYAML:
		return p.part(print.YAML, plan, p.lead("plans:\n", "")+"- ", "  ", "")
	}
	return p.lister.Print(plan)
}

// lead returns what comes before a part: the first one, or another.
func (p *Printer) lead(first, other string) string {
	if p.printed <= 1 {
		return first
	}
	return other
}

// part prints a part of a document, whose lines except the first are indented.
func (p *Printer) part(text func(proto.Message, string) ([]byte, error), m proto.Message, lead, indent, end string) error {
	out, err := text(m, indent)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.w, "%s%s%s", lead, out, end)
	return err
}

// Summary prints the summary, after the plans that were kept.
func (p *Printer) Summary(s *workloadresizerv1.PlanSummary) error {
	if err := print.Sort(p.o.SortBy, p.kept); err != nil {
		return err
	}
	switch format := p.o.Format; {
	case format == print.FormatJSON || format == print.FormatYAML || format == print.FormatName:
		return p.end(s)
	case format.IsDocument():
		to := p.o.To(p.w)
		return to.Fields(print.Field{Name: "plans", Value: print.List(p.kept)}, print.Field{Name: "summary", Value: s})
	case format.IsListing():
		return p.lister.Print(p.kept...)
	}
	if err := p.o.TableTo(p.w, p.kind.Table(p.kept...)); err != nil {
		return err
	}
	return PrintTotals(p.w, p.o.Painter(), s)
}

// end prints the plans that were kept to sort them, and ends the document.
func (p *Printer) end(s *workloadresizerv1.PlanSummary) error {
	for _, plan := range p.kept {
		if err := p.print(plan); err != nil {
			return err
		}
	}
	none := p.printed == 0
	switch {
	case p.o.Format == print.FormatName:
		return nil
	case p.o.Format == print.FormatJSON && none:
		return p.part(print.JSON, s, "{\n  \"plans\": [],\n  \"summary\": ", "  ", "\n}\n")
	case p.o.Format == print.FormatJSON:
		return p.part(print.JSON, s, "\n  ],\n  \"summary\": ", "  ", "\n}\n")
	case none:
		return p.part(print.YAML, s, "plans: []\nsummary:\n  ", "  ", "")
	}
	return p.part(print.YAML, s, "summary:\n  ", "  ", "")
}

// PrintOne prints the plan of one pod that was requested by name. Below a table, verdict begins the line of each full
// reason: users request a single pod to find out why.
func PrintOne(o *print.Output, plan *workloadresizerv1.Plan, verdict func(*workloadresizerv1.Plan) string) error {
	switch {
	case o.Format.IsDocument():
		return o.Document(plan)
	case o.Format.IsListing():
		return print.Listing(o, planName, plan)
	}
	if err := o.Table(planKind(false).Table(plan)); err != nil {
		return err
	}
	return print.Texts(o.Out, print.Each(append(print.Each(plan.GetReasons(), print.Reason), ignored(plan)...), func(line string) string {
		return fmt.Sprintf("%s/%s %s: %s", plan.GetNamespace(), plan.GetPod(), verdict(plan), line)
	})...)
}

func verdict(plan *workloadresizerv1.Plan) string {
	switch plan.GetDecision() {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		return "would be resized"
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		return "is aligned"
	case workloadresizerv1.Decision_DECISION_SKIP:
		return "is skipped"
	}
	return plan.GetDecision().String()
}

// row is what a row is about: a container in a plan. A pod that is skipped before its containers are
// examined has a row, too.
type row struct {
	// object is what creates the pod; nil for a pod in the cluster.
	object *workloadresizerv1.ManifestPlan
	*workloadresizerv1.Plan
	*workloadresizerv1.ContainerPlan
}

func rowsOf(object *workloadresizerv1.ManifestPlan, plans ...*workloadresizerv1.Plan) (rows []row) {
	for _, plan := range plans {
		if len(plan.GetContainers()) == 0 {
			rows = append(rows, row{object: object, Plan: plan})
		}
		for _, container := range plan.GetContainers() {
			rows = append(rows, row{object, plan, container})
		}
	}
	return rows
}

// skipped reports whether the pod is left unchanged.
func (r row) skipped() bool { return r.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP }

// change returns what happens to a request or limit of the container.
func (r row) change(of func(*workloadresizerv1.Resources) map[string]string, name string) any {
	current, desired := r.GetCurrent(), r.GetDesired()
	if r.GetDecision() != workloadresizerv1.Decision_DECISION_RESIZE {
		// The pod keeps its size, even if a different size would be right.
		desired = current
	}
	return print.Change(of(current)[name], of(desired)[name])
}

// reasons returns what text returns for each reason of the pod.
func (r row) reasons(separator string, text func(*workloadresizerv1.PlanReason) string) string {
	return strings.Join(print.Each(r.GetReasons(), text), separator)
}

var requests, limits = (*workloadresizerv1.Resources).GetRequests, (*workloadresizerv1.Resources).GetLimits

var columns = []objects.Column[row]{
	objects.Text("Pod", row.GetPod),
	objects.Text("Container", row.GetName),
	objects.Text("Node", row.GetNode),
	objects.Text("Type", row.GetNodeType),
	objects.Cell("Decision", func(r row) any { return print.Decision(r.GetDecision()) }),
	objects.Cell("CPU", func(r row) any { return r.change(requests, "cpu") }),
	objects.Cell("Memory", func(r row) any { return r.change(requests, "memory") }),
	objects.Text("Reason", func(r row) string { return r.reasons(",", (*workloadresizerv1.PlanReason).GetCode) }),
	objects.Cell("CPU Limit", func(r row) any { return r.change(limits, "cpu") }).Wide(),
	objects.Cell("Memory Limit", func(r row) any { return r.change(limits, "memory") }).Wide(),
	objects.Cell("Original CPU", func(r row) any { return print.Asked(r.GetOriginal(), "cpu") }).Wide(),
	objects.Cell("Original Memory", func(r row) any { return print.Asked(r.GetOriginal(), "memory") }).Wide(),
	objects.Cell("CPU Factor", func(r row) any { return print.Factor(r.GetCpuFactor()) }).Wide(),
	objects.Cell("Memory Factor", func(r row) any { return print.Factor(r.GetMemoryFactor()) }).Wide(),
	objects.Text("Type Label", row.GetNodeTypeLabel).Wide(),
	objects.Text("Rule", row.GetRule).Wide(),
	objects.Text("Message", func(r row) string { return r.reasons("; ", print.Reason) }).Wide(),
	// Each says something only if a rule applies usage.
	objects.Cell("Demand", func(r row) any { return demandText(r.ContainerPlan) }).IfAny(),
	demandColumn("CPU Demand", "cpu"),
	demandColumn("Memory Demand", "memory"),
	// It is long, so that it comes last.
	objects.Text("Eviction", row.GetEviction).IfAny(),
}

func demandColumn(header, name string) objects.Column[row] {
	return objects.Cell(header, func(r row) any { return print.Demand(name, r.GetDemands()[name].GetRequest()) }).Wide().IfAny()
}

// planKind describes plans of pods; withNamespace adds a column with the namespace.
func planKind(withNamespace bool) objects.Kind[*workloadresizerv1.Plan, row] {
	shown := columns
	if withNamespace {
		shown = slices.Insert(slices.Clone(columns), 0, objects.Text("Namespace", row.GetNamespace))
	}
	return objects.Kind[*workloadresizerv1.Plan, row]{
		Name: planName, Rows: func(plan *workloadresizerv1.Plan) []row { return rowsOf(nil, plan) }, Columns: shown, Dim: row.skipped,
	}
}

// Table returns plans of pods as a table, with a column of their namespaces or without: a row per container.
func Table(withNamespace bool, all ...*workloadresizerv1.Plan) *metav1.Table {
	return planKind(withNamespace).Table(all...)
}

func planName(plan *workloadresizerv1.Plan) string { return print.PodName(plan.GetPod()) }

// manifestKind describes the plans of objects in a manifest, which have no node yet; what they request is
// their original.
var manifestKind = objects.Kind[*workloadresizerv1.ManifestPlan, row]{
	Name: manifestName,
	Rows: func(object *workloadresizerv1.ManifestPlan) []row { return rowsOf(object, object.GetPlans()...) },
	Columns: append([]objects.Column[row]{objects.Text("Object", func(r row) string { return objectName(r.object) })},
		objects.Pick(columns, "Container", "Type", "Decision", "CPU", "Memory", "Reason", "CPU Limit", "Memory Limit", "CPU Factor", "Memory Factor", "Rule", "Message")...),
	Dim: row.skipped,
}

// manifestName returns e.g. "deployment/web".
func manifestName(object *workloadresizerv1.ManifestPlan) string { return print.WorkloadName(object) }

// objectName returns e.g. "deployment/web", or "shop/deployment/web" if the manifest sets the namespace.
func objectName(object *workloadresizerv1.ManifestPlan) string {
	name := manifestName(object)
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return print.OneLine(name)
}
