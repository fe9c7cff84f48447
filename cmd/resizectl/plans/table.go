package plans

import (
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var planColumns = []metav1.TableColumnDefinition{
	print.Column("Pod"), print.Column("Container"), print.Column("Node"), print.Column("Type"), print.Column("Decision"),
	print.Column("CPU"), print.Column("Memory"), print.Column("Reason"),
	print.WideColumn("CPU Limit"), print.WideColumn("Memory Limit"),
	print.WideColumn("Original CPU"), print.WideColumn("Original Memory"),
	print.WideColumn("CPU Factor"), print.WideColumn("Memory Factor"), print.WideColumn("Type Label"), print.WideColumn("Rule"), print.WideColumn("Message"),
}

// plansTable collects the rows: a column is as wide as its widest cell.
type plansTable struct {
	w             io.Writer
	output        *print.Output
	table         metav1.Table
	withNamespace bool
	// demands means that the rule of any pod applies usage.
	demands bool
}

func newPlansTable(w io.Writer, o *print.Output, withNamespace bool) *plansTable {
	p := &plansTable{w: w, output: o, withNamespace: withNamespace}
	p.table.ColumnDefinitions = columnsOf(withNamespace)
	return p
}

func columnsOf(withNamespace bool) (columns []metav1.TableColumnDefinition) {
	if withNamespace {
		columns = append(columns, print.Column("Namespace"))
	}
	return append(columns, planColumns...)
}

func (p *plansTable) Plan(plan *workloadresizerv1.Plan) error {
	rows := planRows(plan, p.withNamespace)
	for i, container := range containersOf(plan) {
		more := demandCells(container)
		if plan.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP {
			dimmed(more)
		}
		rows[i].Cells = append(rows[i].Cells, more...)
	}
	p.table.Rows, p.demands = append(p.table.Rows, rows...), p.demands || hasDemands(plan)
	return nil
}

// complete adds the columns of demands, or else removes their cells, once all plans are known.
func (p *plansTable) complete() *metav1.Table {
	if p.demands {
		p.table.ColumnDefinitions = append(p.table.ColumnDefinitions, demandColumns...)
	}
	for i := range p.table.Rows {
		p.table.Rows[i].Cells = p.table.Rows[i].Cells[:len(p.table.ColumnDefinitions)]
	}
	return &p.table
}

// planRows returns a row per container.
func planRows(plan *workloadresizerv1.Plan, withNamespace bool) (rows []metav1.TableRow) {
	for _, container := range containersOf(plan) {
		var cells []any
		if withNamespace {
			cells = append(cells, plan.GetNamespace())
		}
		cells = append(cells, planCells(plan, container)...)
		if plan.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP {
			dimmed(cells)
		}
		rows = append(rows, metav1.TableRow{Cells: cells})
	}
	return rows
}

// containersOf returns the containers of the plan. A pod that is skipped before its
// containers are examined has a row, too.
func containersOf(plan *workloadresizerv1.Plan) []*workloadresizerv1.ContainerPlan {
	if len(plan.GetContainers()) == 0 {
		return []*workloadresizerv1.ContainerPlan{nil}
	}
	return plan.GetContainers()
}

func (p *plansTable) Summary(s *workloadresizerv1.PlanSummary) error {
	if err := p.output.TableTo(p.w, p.complete()); err != nil {
		return err
	}
	return PrintTotals(p.w, p.output.Painter(), s)
}

// printPlan prints the plan of one pod, and below it the full reasons: users request a
// single pod to find out why.
func printPlan(o *print.Output, plan *workloadresizerv1.Plan, verdict func(*workloadresizerv1.Plan) string) error {
	p := newPlansTable(o.Out, o, false)
	if err := p.Plan(plan); err != nil {
		return err
	}
	if err := o.Table(p.complete()); err != nil {
		return err
	}
	for _, reason := range plan.GetReasons() {
		if _, err := fmt.Fprintf(o.Out, "%s/%s %s: %s\n", plan.GetNamespace(), plan.GetPod(), verdict(plan), print.Reason(reason)); err != nil {
			return err
		}
	}
	for _, line := range ignored(plan) {
		if _, err := fmt.Fprintf(o.Out, "%s/%s %s: %s\n", plan.GetNamespace(), plan.GetPod(), verdict(plan), line); err != nil {
			return err
		}
	}
	return nil
}

// planCells returns the cells of one container, in the order of planColumns.
func planCells(plan *workloadresizerv1.Plan, container *workloadresizerv1.ContainerPlan) []any {
	current, desired := container.GetCurrent(), container.GetDesired()
	if plan.GetDecision() != workloadresizerv1.Decision_DECISION_RESIZE {
		// The pod keeps its size, even if a different size would be right.
		desired = current
	}
	var codes, messages []string
	for _, reason := range plan.GetReasons() {
		codes = append(codes, print.OneLine(reason.GetCode()))
		messages = append(messages, print.Reason(reason))
	}
	return []any{
		plan.GetPod(), print.OrAbsent(container.GetName()), print.OrAbsent(plan.GetNode()), print.OrAbsent(print.OneLine(plan.GetNodeType())), print.Decision(plan.GetDecision()),
		print.Change(current.GetRequests()["cpu"], desired.GetRequests()["cpu"]),
		print.Change(current.GetRequests()["memory"], desired.GetRequests()["memory"]),
		print.OrAbsent(strings.Join(codes, ",")),
		print.Change(current.GetLimits()["cpu"], desired.GetLimits()["cpu"]),
		print.Change(current.GetLimits()["memory"], desired.GetLimits()["memory"]),
		print.Asked(container.GetOriginal(), "cpu"), print.Asked(container.GetOriginal(), "memory"),
		print.Factor(plan.GetCpuFactor()), print.Factor(plan.GetMemoryFactor()),
		print.OrAbsent(print.OneLine(plan.GetNodeTypeLabel())), print.OrAbsent(print.OneLine(plan.GetRule())),
		print.OrAbsent(strings.Join(messages, "; ")),
	}
}
