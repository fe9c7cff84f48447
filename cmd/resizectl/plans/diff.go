package plans

import (
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Outcome is what comes of a plan: the decision, and the sizes of the containers. Two outcomes are the same if they are equal. It takes few
// bytes, since a preview with assumptions keeps those of all pods.
type Outcome string

// OutcomeOf returns the outcome of a plan.
func OutcomeOf(plan *workloadresizerv1.Plan) Outcome {
	o := &workloadresizerv1.Plan{Decision: plan.GetDecision()}
	for _, c := range plan.GetContainers() {
		size := c.GetCurrent()
		if plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE {
			size = c.GetDesired()
		}
		o.Containers = append(o.Containers, &workloadresizerv1.ContainerPlan{Name: c.GetName(), Current: size})
	}
	packed, err := proto.MarshalOptions{Deterministic: true}.Marshal(o)
	if err != nil {
		panic(err) // These are parts of a message that was read.
	}
	return Outcome(packed)
}

// read returns the decision, and the sizes of the containers by name.
func (o Outcome) read() (workloadresizerv1.Decision, map[string]*workloadresizerv1.Resources) {
	var plan workloadresizerv1.Plan
	if err := proto.Unmarshal([]byte(o), &plan); err != nil {
		panic(err) // OutcomeOf wrote it.
	}
	sizes := map[string]*workloadresizerv1.Resources{}
	for _, c := range plan.GetContainers() {
		sizes[c.GetName()] = c.GetCurrent()
	}
	return plan.GetDecision(), sizes
}

// Diff is the plan of a pod with assumptions, and the outcome of the one without.
type Diff struct {
	Without Outcome
	With    *workloadresizerv1.Plan
}

// diffRow is a container in a diff.
type diffRow struct {
	row
	// decided is the decision without the assumptions.
	decided workloadresizerv1.Decision
	// without and with are the sizes of the container.
	without, with *workloadresizerv1.Resources
}

func (r diffRow) change(of func(*workloadresizerv1.Resources) map[string]string, name string) any {
	return print.Change(of(r.without)[name], of(r.with)[name])
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
		if r.decided != r.GetDecision() {
			return print.Decision(r.decided) + " → " + print.Decision(r.GetDecision())
		}
		return print.Decision(r.GetDecision())
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
		decided, without := d.Without.read()
		_, with := OutcomeOf(d.With).read()
		for _, r := range rowsOf(nil, d.With) {
			all = append(all, diffRow{r, decided, without[r.GetName()], with[r.GetName()]})
		}
	}
	return objects.Table(diffColumns, all...)
}
