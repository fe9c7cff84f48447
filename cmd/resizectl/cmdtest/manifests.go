package cmdtest

import workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"

const ManifestText = "kind: Deployment\n"

// ManifestPlans returns the plans of a Deployment, and of a pod without a controller.
func ManifestPlans() *workloadresizerv1.PreviewManifestResponse {
	of := func(plan *workloadresizerv1.Plan, nodeType string) *workloadresizerv1.Plan {
		plan.Pod, plan.Node, plan.NodeType = "web", "", nodeType
		return plan
	}
	onBaseline := of(Web(), "n2d")
	onBaseline.Decision, onBaseline.CpuFactor = workloadresizerv1.Decision_DECISION_ALIGNED, new(1.0)
	onBaseline.Reasons = []*workloadresizerv1.PlanReason{{Code: "AlreadyAligned", Message: "the pod has the size for node type n2d"}}
	return &workloadresizerv1.PreviewManifestResponse{
		Objects: []*workloadresizerv1.ManifestPlan{
			{Kind: "Deployment", Namespace: "shop", Name: "web", Plans: []*workloadresizerv1.Plan{onBaseline, of(Web(), "n4")}},
			{Kind: "Pod", Name: "bare", Warnings: []string{"a pod without a controller is never resized"}, Plans: []*workloadresizerv1.Plan{of(Bare(), "n4")}},
		},
		Ignored: []string{"Service web", "ConfigMap web"},
	}
}
