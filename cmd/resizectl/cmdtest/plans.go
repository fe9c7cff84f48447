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
	explained := make([]*workloadresizerv1.Explanation, len(plans))
	for i, plan := range plans {
		explained[i] = Explained(plan)
		explained[i].Pods = int64(len(plans))
	}
	return Scripts(
		Explains(explained...),
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

// SummaryMessage returns the message that ends plans.
func SummaryMessage(summary *workloadresizerv1.PlanSummary) *workloadresizerv1.PreviewPlansResponse {
	return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Summary{Summary: summary}}
}

// EachDecision answers previews of a cluster with a pod of each decision.
func EachDecision() Script {
	return Plans(&workloadresizerv1.PlanSummary{Pods: 4, Resize: 1, Aligned: 1, Skip: 2}, Aligned(), Bare(), Web(), Unsteady())
}

// Sized returns a pod that was sized for n4.
func Sized(namespace, pod string, state workloadresizerv1.ResizeState, message string) *workloadresizerv1.Resize {
	return &workloadresizerv1.Resize{
		Namespace: namespace, Pod: pod, Uid: Web().GetUid(), Node: "node-1", NodeType: "n4",
		Workload:  &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "api"},
		ApplyTime: timestamppb.New(Since.Add(time.Minute)), State: state, Message: message,
		Containers: []*workloadresizerv1.ResizedContainer{{
			Name:     "api",
			Original: Resources("500m", "256Mi", "500m", "256Mi"),
			Spec:     Resources("400m", "320Mi", "400m", "320Mi"),
			Actual:   Resources("500m", "256Mi", "500m", "256Mi"),
		}},
	}
}

// PartlySized returns a pod of which only some resources were sized.
func PartlySized(namespace, pod string) *workloadresizerv1.Resize {
	resize := Sized(namespace, pod, workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
	resize.NodeType, resize.ApplyTime = "", nil
	return resize
}
