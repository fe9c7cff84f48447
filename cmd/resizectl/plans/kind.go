package plans

import (
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

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
	// These say something if any rule applies usage.
	objects.Cell("Demand", func(r row) any { return demandText(r.ContainerPlan) }).IfAny(),
	demandColumn("CPU Demand", "cpu"),
	demandColumn("Memory Demand", "memory"),
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
