package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

type planService struct {
	workloadresizerv1.UnimplementedPlanServiceServer
	reconciler *reconciler.Reconciler
}

func (s *planService) PreviewPod(ctx context.Context, request *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error) {
	if request.GetNamespace() == "" {
		return nil, missingField("namespace", "the pod's namespace")
	}
	if request.GetPod() == "" {
		return nil, missingField("pod", "the pod's name")
	}
	p, err := s.reconciler.Preview(ctx, types.NamespacedName{Namespace: request.GetNamespace(), Name: request.GetPod()},
		reconciler.PreviewOptions{Restore: request.GetRestore(), ServerSide: request.GetServerSide()})
	if err != nil {
		return nil, planError(err)
	}
	return &workloadresizerv1.PreviewPodResponse{Plan: plan(p)}, nil
}

func (s *planService) PreviewPlans(request *workloadresizerv1.PreviewPlansRequest, stream grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]) error {
	plans, err := s.reconciler.PreviewAll(stream.Context(), request.GetNamespace(),
		reconciler.PreviewOptions{Restore: request.GetRestore(), ServerSide: request.GetServerSide()})
	if err != nil {
		return planError(err)
	}
	summary := &workloadresizerv1.PlanSummary{}
	for p := range plans {
		summary.Pods++
		switch p.Decision {
		case reconciler.Resize:
			summary.Resize++
		case reconciler.Align:
			summary.Aligned++
		case reconciler.Skip:
			summary.Skip++
		}
		if err := stream.Send(&workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Plan{Plan: plan(p)}}); err != nil {
			return err
		}
	}
	if err := stream.Context().Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	return stream.Send(&workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Summary{Summary: summary}})
}

func plan(p *reconciler.Plan) *workloadresizerv1.Plan {
	out := &workloadresizerv1.Plan{
		Namespace:        p.Pod.Namespace,
		Pod:              p.Pod.Name,
		Uid:              string(p.UID),
		Node:             p.Node,
		NodeType:         p.NodeType,
		NodeTypeLabel:    p.NodeTypeLabel,
		Rule:             p.Rule,
		BaselineNodeType: p.Baseline,
		RatioRevision:    p.Revision,
		CpuFactor:        factor(p.CPUFactor),
		MemoryFactor:     factor(p.MemoryFactor),
		Decision:         decision(p.Decision),
		Reasons:          make([]*workloadresizerv1.PlanReason, len(p.Reasons)),
		Containers:       make([]*workloadresizerv1.ContainerPlan, len(p.Containers)),
		QosClass:         string(p.QOSClass),
	}
	for i, r := range p.Reasons {
		out.Reasons[i] = &workloadresizerv1.PlanReason{Code: string(r.Code), Message: r.Message}
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		out.Containers[i] = &workloadresizerv1.ContainerPlan{
			Name: c.Name, Sidecar: c.Sidecar, Original: resources(c.Original), Current: resources(c.Current), Desired: resources(c.Desired),
		}
	}
	return out
}

func decision(d reconciler.Decision) workloadresizerv1.Decision {
	switch d {
	case reconciler.Resize:
		return workloadresizerv1.Decision_DECISION_RESIZE
	case reconciler.Align:
		return workloadresizerv1.Decision_DECISION_ALIGNED
	}
	return workloadresizerv1.Decision_DECISION_SKIP
}

func factor(q ratios.Quotient) float64 {
	if q.Den == 0 {
		return 0 // The node type has no ratio.
	}
	return q.Float64()
}

func resources(c sizing.Container) *workloadresizerv1.Resources {
	return &workloadresizerv1.Resources{
		Requests: amounts(c.CPU.Request, c.Memory.Request),
		Limits:   amounts(c.CPU.Limit, c.Memory.Limit),
	}
}

func amounts(cpu, memory int64) map[string]string {
	m := map[string]string{}
	if cpu != 0 {
		m["cpu"] = sizing.CPUText(cpu)
	}
	if memory != 0 {
		m["memory"] = sizing.MemoryText(memory)
	}
	return m
}
