package cmdtest

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func list(cpu, memory string) map[string]string {
	m := map[string]string{}
	if cpu != "" {
		m["cpu"] = cpu
	}
	if memory != "" {
		m["memory"] = memory
	}
	return m
}

// Resources returns requests and limits; empty ones are omitted.
func Resources(cpu, memory, cpuLimit, memoryLimit string) *workloadresizerv1.Resources {
	return &workloadresizerv1.Resources{Requests: list(cpu, memory), Limits: list(cpuLimit, memoryLimit)}
}

// OnN4 returns a plan on a node that is 1.25 times as fast as the baseline.
func OnN4(namespace, pod string, decision workloadresizerv1.Decision) *workloadresizerv1.Plan {
	return &workloadresizerv1.Plan{
		Namespace: namespace, Pod: pod, Uid: "7f1d0c1e-0000-4000-8000-000000000001",
		Node: "node-1", NodeType: "n4", NodeTypeLabel: "cloud.google.com/machine-family", BaselineNodeType: "n2d",
		RatioRevision: "4b1f", CpuFactor: new(0.8), MemoryFactor: new(1.0), Decision: decision, QosClass: "Burstable",
	}
}

// Web returns a plan with two containers to resize, one of them clamped by a bound.
func Web() *workloadresizerv1.Plan {
	plan := OnN4("default", "web-6d4cf56db6-x2x7p", workloadresizerv1.Decision_DECISION_RESIZE)
	plan.Containers = []*workloadresizerv1.ContainerPlan{
		{Name: "app", Original: Resources("1", "1Gi", "2", ""), Current: Resources("1", "1Gi", "2", ""), Desired: Resources("800m", "1Gi", "1600m", "")},
		{Name: "proxy", Original: Resources("60m", "", "", ""), Current: Resources("60m", "", "", ""), Desired: Resources("50m", "", "", "")},
	}
	plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "BoundsClamped", Message: "the cpu request of proxy is 50m, the least that is configured, instead of 48m"}}
	return plan
}

// Following returns a plan whose sizes follow usage: of one container, as far as usage is known.
func Following() *workloadresizerv1.Plan {
	const byAuthor, byUsage = workloadresizerv1.DemandSource_DEMAND_SOURCE_AUTHOR, workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE
	plan := OnN4("default", "web-6d4cf56db6-x2x7p", workloadresizerv1.Decision_DECISION_RESIZE)
	plan.Rule = "overrides[0] (web)"
	plan.Containers = []*workloadresizerv1.ContainerPlan{
		{
			Name: "app", Original: Resources("1", "1Gi", "2", "2Gi"), Current: Resources("800m", "1Gi", "1600m", "2Gi"), Desired: Resources("384m", "1Gi", "768m", "2Gi"),
			Demands: map[string]*workloadresizerv1.ResourceDemand{
				"cpu":    {Source: byUsage, Request: "480m", Lower: "300m", Upper: "900m", Revision: "00f3a91c5e7d2b46"},
				"memory": {Source: byUsage, Request: "900Mi", Lower: "700Mi", Upper: "3Gi", Revision: "9b1e02d7744ac05f", Message: "3 hours of memory known, and 24 hours needed (minHistory)"},
			},
		},
		{
			Name: "proxy", Original: Resources("100m", "", "", ""), Current: Resources("80m", "", "", ""), Desired: Resources("80m", "", "", ""),
			Demands: map[string]*workloadresizerv1.ResourceDemand{"cpu": {Source: byAuthor, Request: "100m", Message: "it is not known what the container needs"}},
		},
	}
	return plan
}

// Aligned returns the plan of a pod that was resized before.
func Aligned() *workloadresizerv1.Plan {
	plan := OnN4("default", "api-0", workloadresizerv1.Decision_DECISION_ALIGNED)
	plan.QosClass = "Guaranteed"
	plan.Containers = []*workloadresizerv1.ContainerPlan{
		{Name: "api", Original: Resources("500m", "256Mi", "500m", "256Mi"), Current: Resources("400m", "256Mi", "400m", "256Mi"), Desired: Resources("400m", "256Mi", "400m", "256Mi")},
	}
	plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "AlreadyAligned", Message: "the pod has the size for node type n4"}}
	return plan
}

// Bare returns the plan of a pod that is skipped before its containers are examined.
func Bare() *workloadresizerv1.Plan {
	return &workloadresizerv1.Plan{
		Namespace: "default", Pod: "bare", Node: "node-1", Decision: workloadresizerv1.Decision_DECISION_SKIP, QosClass: "BestEffort",
		Reasons: []*workloadresizerv1.PlanReason{{Code: "NotOwned", Message: "the pod has no controller of a kind that is resized"}},
	}
}

// Unsteady returns the plan of a pod that is skipped although a different size would be right.
// Its message contains characters that a terminal must not receive.
func Unsteady() *workloadresizerv1.Plan {
	plan := OnN4("shop", "cart-0", workloadresizerv1.Decision_DECISION_SKIP)
	plan.Containers = []*workloadresizerv1.ContainerPlan{
		{Name: "cart", Original: Resources("1", "1Gi", "", ""), Current: Resources("1", "1Gi", "", ""), Desired: Resources("800m", "1Gi", "", "")},
	}
	plan.Reasons = []*workloadresizerv1.PlanReason{
		{Code: "InvalidAnnotation", Message: "original-cpu.cart is \"\x1b[31m\tone\ncore\""},
		{Code: "QOSClassChange"},
	}
	return plan
}

// Plans answers previews of one pod, and of many, which a summary ends unless it is nil.
func Plans(summary *workloadresizerv1.PlanSummary, plans ...*workloadresizerv1.Plan) Script {
	return Scripts(
		On(func(req *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error) {
			for _, plan := range plans {
				if plan.GetPod() == req.GetPod() {
					return &workloadresizerv1.PreviewPodResponse{Plan: plan}, nil
				}
			}
			return nil, status.Errorf(codes.NotFound, "there is no pod %s/%s", req.GetNamespace(), req.GetPod())
		}),
		OnStream(func(_ context.Context, _ *workloadresizerv1.PreviewPlansRequest, send func(*workloadresizerv1.PreviewPlansResponse) error) error {
			for _, plan := range plans {
				if err := send(PlanMessage(plan)); err != nil {
					return err
				}
			}
			if summary == nil {
				return nil
			}
			return send(SummaryMessage(summary))
		}),
	)
}

// PlanMessage returns the message with a plan among others.
func PlanMessage(plan *workloadresizerv1.Plan) *workloadresizerv1.PreviewPlansResponse {
	return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Plan{Plan: plan}}
}

// EachDecision answers previews of a cluster with a pod of each decision.
func EachDecision() Script {
	return Plans(&workloadresizerv1.PlanSummary{Pods: 4, Resize: 1, Aligned: 1, Skip: 2}, Aligned(), Bare(), Web(), Unsteady())
}

// Cluster returns a server that has a pod of each decision.
func Cluster() *Server {
	return &Server{
		Plans:   []*workloadresizerv1.Plan{Aligned(), Bare(), Web(), Unsteady()},
		Summary: &workloadresizerv1.PlanSummary{Pods: 4, Resize: 1, Aligned: 1, Skip: 2},
	}
}

// Ratios returns the ratios of three node types, without overrides and rules.
func Ratios() *workloadresizerv1.ListRatiosResponse {
	written := &workloadresizerv1.Provenance{
		Source: "configmap", Author: "kubectl-client-side-apply",
		UpdateTime: timestamppb.New(time.Date(2026, 10, 1, 12, 30, 0, 5e8, time.UTC)),
	}
	ratio := func(nodeType string, cpu, cpuFactor float64, from *workloadresizerv1.Provenance) *workloadresizerv1.Ratio {
		return &workloadresizerv1.Ratio{
			NodeType: nodeType, CpuPerf: cpu, MemoryPerf: 1, CpuFactor: cpuFactor, MemoryFactor: 1, Provenance: from,
			Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: cpu, MemoryPerf: 1, Provenance: from}},
		}
	}
	baseline := ratio("n2d", 1, 1, written)
	baseline.Baseline = true
	return &workloadresizerv1.ListRatiosResponse{
		Ratios: []*workloadresizerv1.Ratio{
			ratio("c3", 1.3, 1/1.3, written), baseline, ratio("n4", 1.25, 0.8, &workloadresizerv1.Provenance{Source: "file"}),
		},
		BaselineNodeType: "n2d",
		Bounds: &workloadresizerv1.Bounds{
			Cpu:    &workloadresizerv1.QuantityRange{Min: "50m", Max: "16"},
			Memory: &workloadresizerv1.QuantityRange{Min: "64Mi"},
		},
		Revision: "4b1f",
		Sources:  []*workloadresizerv1.RatioSource{{Name: "configmap", Healthy: true, LastGoodTime: written.GetUpdateTime()}},
	}
}
