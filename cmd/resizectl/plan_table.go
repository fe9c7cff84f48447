package main

import (
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var planColumns = []metav1.TableColumnDefinition{
	column("Pod"), column("Container"), column("Node"), column("Type"), column("Decision"),
	column("CPU"), column("Memory"), column("Reason"),
	wideColumn("CPU Limit"), wideColumn("Memory Limit"),
	wideColumn("Original CPU"), wideColumn("Original Memory"),
	wideColumn("CPU Factor"), wideColumn("Memory Factor"), wideColumn("Type Label"), wideColumn("Rule"), wideColumn("Message"),
}

// plansTable collects the rows: a column is as wide as its widest cell.
type plansTable struct {
	w             io.Writer
	table         metav1.Table
	withNamespace bool
	wide          bool
}

func newPlansTable(w io.Writer, withNamespace, wide bool) *plansTable {
	p := &plansTable{w: w, withNamespace: withNamespace, wide: wide}
	if withNamespace {
		p.table.ColumnDefinitions = append(p.table.ColumnDefinitions, column("Namespace"))
	}
	p.table.ColumnDefinitions = append(p.table.ColumnDefinitions, planColumns...)
	return p
}

func (p *plansTable) plan(plan *workloadresizerv1.Plan) error {
	containers := plan.GetContainers()
	if len(containers) == 0 {
		// A pod that is skipped before its containers are looked at has a row too.
		containers = []*workloadresizerv1.ContainerPlan{nil}
	}
	for _, container := range containers {
		var cells []any
		if p.withNamespace {
			cells = append(cells, plan.GetNamespace())
		}
		p.table.Rows = append(p.table.Rows, metav1.TableRow{Cells: append(cells, planCells(plan, container)...)})
	}
	return nil
}

func (p *plansTable) summary(s *workloadresizerv1.PlanSummary) error {
	if err := printTable(p.w, &p.table, p.wide); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.w, "%s: %d to resize, %d aligned, %d left alone\n", countOf(s.GetPods(), "pod"), s.GetResize(), s.GetAligned(), s.GetSkip())
	return err
}

// printPlan prints the plan of one pod, and below it its reasons in full: who
// asks for one pod wants to know why.
func printPlan(w io.Writer, plan *workloadresizerv1.Plan, wide bool) error {
	p := newPlansTable(w, false, wide)
	if err := p.plan(plan); err != nil {
		return err
	}
	if err := printTable(w, &p.table, wide); err != nil {
		return err
	}
	for _, reason := range plan.GetReasons() {
		if _, err := fmt.Fprintf(w, "%s/%s %s: %s\n", plan.GetNamespace(), plan.GetPod(), verdict(plan.GetDecision()), reasonText(reason)); err != nil {
			return err
		}
	}
	return nil
}

// planCells are the cells of one container in the order of planColumns.
func planCells(plan *workloadresizerv1.Plan, container *workloadresizerv1.ContainerPlan) []any {
	current, desired := container.GetCurrent(), container.GetDesired()
	if plan.GetDecision() != workloadresizerv1.Decision_DECISION_RESIZE {
		// Whatever would be right for it, the pod keeps what it has.
		desired = current
	}
	var codes, messages []string
	for _, reason := range plan.GetReasons() {
		codes = append(codes, oneLine(reason.GetCode()))
		messages = append(messages, reasonText(reason))
	}
	return []any{
		plan.GetPod(), orAbsent(container.GetName()), orAbsent(plan.GetNode()), orAbsent(oneLine(plan.GetNodeType())), decisionText(plan.GetDecision()),
		change(current.GetRequests()["cpu"], desired.GetRequests()["cpu"]),
		change(current.GetRequests()["memory"], desired.GetRequests()["memory"]),
		orAbsent(strings.Join(codes, ",")),
		change(current.GetLimits()["cpu"], desired.GetLimits()["cpu"]),
		change(current.GetLimits()["memory"], desired.GetLimits()["memory"]),
		asked(container.GetOriginal(), "cpu"), asked(container.GetOriginal(), "memory"),
		factor(plan.GetCpuFactor()), factor(plan.GetMemoryFactor()),
		orAbsent(oneLine(plan.GetNodeTypeLabel())), orAbsent(oneLine(plan.GetRule())),
		orAbsent(strings.Join(messages, "; ")),
	}
}

// change is "current → desired", or one of them if they are the same.
func change(current, desired string) string {
	if current == desired {
		return orAbsent(current)
	}
	return orAbsent(current) + " → " + orAbsent(desired)
}

// asked is "request/limit" of one resource, absent if there is neither.
func asked(r *workloadresizerv1.Resources, resource string) string {
	request, limit := r.GetRequests()[resource], r.GetLimits()[resource]
	if request == "" && limit == "" {
		return absent
	}
	return orAbsent(request) + "/" + orAbsent(limit)
}

func reasonText(reason *workloadresizerv1.PlanReason) string {
	if reason.GetMessage() == "" {
		return oneLine(reason.GetCode())
	}
	return oneLine(reason.GetCode() + ": " + reason.GetMessage())
}

func decisionText(d workloadresizerv1.Decision) string {
	switch d {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		return "resize"
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		return "aligned"
	case workloadresizerv1.Decision_DECISION_SKIP:
		return "skip"
	}
	// A newer server may decide what this version does not know.
	return d.String()
}

func verdict(d workloadresizerv1.Decision) string {
	switch d {
	case workloadresizerv1.Decision_DECISION_RESIZE:
		return "would be resized"
	case workloadresizerv1.Decision_DECISION_ALIGNED:
		return "is aligned"
	case workloadresizerv1.Decision_DECISION_SKIP:
		return "is left alone"
	}
	return d.String()
}
