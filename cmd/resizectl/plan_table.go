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
	painter       painter
	table         metav1.Table
	withNamespace bool
	wide          bool
}

func newPlansTable(w io.Writer, paint painter, withNamespace, wide bool) *plansTable {
	p := &plansTable{w: w, painter: paint, withNamespace: withNamespace, wide: wide}
	if withNamespace {
		p.table.ColumnDefinitions = append(p.table.ColumnDefinitions, column("Namespace"))
	}
	p.table.ColumnDefinitions = append(p.table.ColumnDefinitions, planColumns...)
	return p
}

func (p *plansTable) plan(plan *workloadresizerv1.Plan) error {
	for _, container := range containersOf(plan) {
		var cells []any
		if p.withNamespace {
			cells = append(cells, plan.GetNamespace())
		}
		cells = append(cells, planCells(plan, container)...)
		if plan.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP {
			dimmed(cells)
		}
		p.table.Rows = append(p.table.Rows, metav1.TableRow{Cells: cells})
	}
	return nil
}

// containersOf are those of the plan. A pod that is skipped before its containers
// are looked at has a row too.
func containersOf(plan *workloadresizerv1.Plan) []*workloadresizerv1.ContainerPlan {
	if len(plan.GetContainers()) == 0 {
		return []*workloadresizerv1.ContainerPlan{nil}
	}
	return plan.GetContainers()
}

func (p *plansTable) summary(s *workloadresizerv1.PlanSummary) error {
	if err := printTable(p.w, p.painter, p.wide, &p.table); err != nil {
		return err
	}
	return printTotals(p.w, p.painter, s)
}

// printPlan prints the plan of one pod, and below it its reasons in full: who
// asks for one pod wants to know why.
func printPlan(w io.Writer, paint painter, plan *workloadresizerv1.Plan, wide bool) error {
	p := newPlansTable(w, paint, false, wide)
	if err := p.plan(plan); err != nil {
		return err
	}
	if err := printTable(w, paint, wide, &p.table); err != nil {
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
