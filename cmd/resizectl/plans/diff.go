package plans

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Outcome is what comes of a plan: the decision, and the sizes of the containers by name.
type Outcome struct {
	decision workloadresizerv1.Decision
	sizes    map[string]*workloadresizerv1.Resources
}

// OutcomeOf returns the outcome of a plan.
func OutcomeOf(plan *workloadresizerv1.Plan) Outcome {
	o := Outcome{plan.GetDecision(), map[string]*workloadresizerv1.Resources{}}
	for _, c := range plan.GetContainers() {
		if o.sizes[c.GetName()] = c.GetCurrent(); o.decision == workloadresizerv1.Decision_DECISION_RESIZE {
			o.sizes[c.GetName()] = c.GetDesired()
		}
	}
	return o
}

// Is reports whether another outcome is the same.
func (o Outcome) Is(other Outcome) bool {
	return o.decision == other.decision && maps.EqualFunc(o.sizes, other.sizes, func(a, b *workloadresizerv1.Resources) bool {
		return maps.Equal(a.GetRequests(), b.GetRequests()) && maps.Equal(a.GetLimits(), b.GetLimits())
	})
}

// Diff is the plan of a pod with assumptions, and the outcome of the one without.
type Diff struct {
	Without Outcome
	With    *workloadresizerv1.Plan
}

// diffRow is a container in a diff.
type diffRow struct {
	row
	without, with Outcome
}

func (r diffRow) change(of func(*workloadresizerv1.Resources) map[string]string, name string) any {
	return print.Change(of(r.without.sizes[r.GetName()])[name], of(r.with.sizes[r.GetName()])[name])
}

// diffColumn is a column of plans in a diff.
func diffColumn(header string, of func(row) string) objects.Column[diffRow] {
	return objects.Text(header, func(r diffRow) string { return of(r.row) })
}

var diffColumns = []objects.Column[diffRow]{
	diffColumn("Namespace", row.GetNamespace),
	diffColumn("Pod", row.GetPod),
	diffColumn("Container", row.GetName),
	diffColumn("Node", row.GetNode),
	diffColumn("Type", row.GetNodeType),
	objects.Text("Decision", func(r diffRow) string {
		if without := print.Decision(r.without.decision); r.without.decision != r.with.decision {
			return without + " → " + print.Decision(r.with.decision)
		}
		return print.Decision(r.with.decision)
	}),
	objects.Cell("CPU", func(r diffRow) any { return r.change(requests, "cpu") }),
	objects.Cell("Memory", func(r diffRow) any { return r.change(requests, "memory") }),
	objects.Cell("CPU Limit", func(r diffRow) any { return r.change(limits, "cpu") }),
	objects.Cell("Memory Limit", func(r diffRow) any { return r.change(limits, "memory") }),
	diffColumn("Reason", func(r row) string { return r.reasons(",", (*workloadresizerv1.PlanReason).GetCode) }),
}

// DiffTable returns diffs as a table, with a row per container: what would come of the plans without the assumptions → with them. The
// reasons are those with them.
func DiffTable(diffs ...Diff) *metav1.Table {
	var all []diffRow
	for _, d := range diffs {
		with := OutcomeOf(d.With)
		for _, r := range rowsOf(nil, d.With) {
			all = append(all, diffRow{r, d.Without, with})
		}
	}
	return objects.Table(diffColumns, all...)
}
