package plans

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// manifestTable returns a table with a row per object, node type and container.
func manifestTable(response *workloadresizerv1.PreviewManifestResponse) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		print.Column("Object"), print.Column("Container"), print.Column("Type"), print.Column("Decision"), print.Column("CPU"), print.Column("Memory"), print.Column("Reason"),
		print.WideColumn("CPU Limit"), print.WideColumn("Memory Limit"), print.WideColumn("CPU Factor"), print.WideColumn("Memory Factor"),
		print.WideColumn("Rule"), print.WideColumn("Message"),
	}}
	for _, object := range response.GetObjects() {
		for _, plan := range object.GetPlans() {
			for _, container := range containersOf(plan) {
				cells := manifestCells(objectName(object), plan, container)
				if plan.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP {
					dimmed(cells)
				}
				table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
			}
		}
	}
	return table
}

// manifestCells selects from the cells of a pod in the cluster: a manifest has no node, and
// what it requests is its original.
func manifestCells(object string, plan *workloadresizerv1.Plan, container *workloadresizerv1.ContainerPlan) []any {
	cells := map[string]any{}
	for i, cell := range planCells(plan, container) {
		cells[planColumns[i].Name] = cell
	}
	chosen := []any{object}
	for _, name := range []string{"Container", "Type", "Decision", "CPU", "Memory", "Reason", "CPU Limit", "Memory Limit", "CPU Factor", "Memory Factor", "Rule", "Message"} {
		chosen = append(chosen, cells[name])
	}
	return chosen
}

// manifestName returns e.g. "deployment/web".
func manifestName(object *workloadresizerv1.ManifestPlan) string { return print.WorkloadName(object) }

// objectName returns e.g. "deployment/web", or "shop/deployment/web" if the manifest sets
// the namespace.
func objectName(object *workloadresizerv1.ManifestPlan) string {
	name := manifestName(object)
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return print.OneLine(name)
}
