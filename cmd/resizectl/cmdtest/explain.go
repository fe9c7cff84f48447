package cmdtest

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Explained returns the explanation of a plan, with the ratios of Ratios: each size comes from one step, and each reason has its
// remedy.
func Explained(plan *workloadresizerv1.Plan) *workloadresizerv1.Explanation {
	e := &workloadresizerv1.Explanation{Pods: 1, Plan: plan, Bounds: Ratios().GetBounds(), Sources: Ratios().GetSources()}
	for _, r := range Ratios().GetRatios() {
		if r.GetNodeType() == plan.GetNodeType() {
			e.Ratio = r
		}
		if r.GetNodeType() == plan.GetBaselineNodeType() {
			e.Baseline = r
		}
	}
	for _, c := range plan.GetContainers() {
		for _, name := range []string{"cpu", "memory"} {
			if request := c.GetDesired().GetRequests()[name]; request != "" {
				cause := workloadresizerv1.SizeCause_SIZE_CAUSE_RATIO
				if c.GetDemands()[name].GetSource() == workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE {
					cause = workloadresizerv1.SizeCause_SIZE_CAUSE_DEMAND
				}
				e.Steps = append(e.Steps, Step(c.GetName(), name, "scale", request, c.GetDesired().GetLimits()[name], cause))
			}
		}
	}
	for _, r := range plan.GetReasons() {
		if info, _ := contract.Reason(r.GetCode()).Info(); info.Remedy != "" && info.Remedy != "nothing" {
			e.Remedies = append(e.Remedies, &workloadresizerv1.Remedy{Code: r.GetCode(), Message: info.Remedy})
		}
	}
	return e
}

// Step returns a step to a size.
func Step(container, resource, stage, request, limit string, cause workloadresizerv1.SizeCause) *workloadresizerv1.SizeStep {
	return &workloadresizerv1.SizeStep{Container: container, Resource: resource, Stage: stage, Request: request, Limit: limit, Cause: cause}
}

// Explains answers with the explanation of the pod that a request names. If it names none, it is the first one.
func Explains(all ...*workloadresizerv1.Explanation) Script {
	return On(func(req *workloadresizerv1.ExplainPodRequest) (*workloadresizerv1.ExplainPodResponse, error) {
		for _, e := range all {
			if req.GetPod() == "" || req.GetPod() == e.GetPlan().GetPod() {
				return &workloadresizerv1.ExplainPodResponse{Explanation: e}, nil
			}
		}
		return nil, status.Errorf(codes.NotFound, "there is no pod %s/%s", req.GetNamespace(), req.GetPod())
	})
}
