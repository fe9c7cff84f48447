package usage

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/translate"
	"github.com/workload-resizer/workload-resizer/server/values"
	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// GetRecommendation implements workloadresizerv1.UsageServiceServer.
func (s *Service) GetRecommendation(ctx context.Context, request *workloadresizerv1.GetRecommendationRequest) (*workloadresizerv1.GetRecommendationResponse, error) {
	if err := access.MustSee(s.config.Viewer.View(ctx), request.GetNamespace()); err != nil {
		return nil, err
	}
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	of := workloadOf(request.GetWorkload())
	found, err := s.config.Demands.Explain(ctx, request.GetNamespace(), of)
	if err != nil {
		return nil, translate.Error(err)
	}
	if len(found) == 0 {
		return nil, unknown("workload", request.GetNamespace()+"/"+of.Kind+"/"+of.Name, noPods(of.Kind)+", and "+notMeasured)
	}
	response := &workloadresizerv1.GetRecommendationResponse{Currency: currency(table)}
	for i := range found {
		response.Containers = append(response.Containers, explained(&found[i], table.Prices != nil))
	}
	return response, nil
}

// noPods returns why no pod counts for a workload of this kind. Pods of the kinds named here may exist
// nevertheless, and count for a different workload or for none.
func noPods(kind string) string {
	switch kind {
	case "Job":
		return "no pod counts for it: the label that --usage-job-label sets names the workload of a Job without an owner, and a Job without that label has none"
	case "ReplicaSet":
		return "no pod counts for it: pods of a ReplicaSet with an owner count for that owner, such as a Deployment"
	}
	return "no pod of it exists"
}

func explained(e *demand.Explained, priced bool) *workloadresizerv1.ExplainedRecommendation {
	m := &workloadresizerv1.ExplainedRecommendation{Recommendation: message(e.Item, priced)}
	for i := range e.Measured {
		on := &e.Measured[i]
		measured := &workloadresizerv1.MeasuredNodeType{
			NodeType: on.NodeType, FirstTime: values.Timestamp(on.First), LastTime: values.Timestamp(on.Last), Samples: int64(on.Samples),
			Throttled: on.Throttled, Percentile: amounts(on.Percentile),
		}
		if on.SpeedKnown {
			measured.CpuSpeed, measured.MemorySpeed = &on.Speed.CPU, &on.Speed.Memory
		}
		m.Measured = append(m.Measured, measured)
	}
	for _, step := range e.Steps {
		m.Steps = append(m.Steps, &workloadresizerv1.RecommendationStep{Name: step.Name, Amounts: amounts(step.Amounts), Message: step.Message})
	}
	return m
}

// GetUsageHistory implements workloadresizerv1.UsageServiceServer.
func (s *Service) GetUsageHistory(ctx context.Context, request *workloadresizerv1.GetUsageHistoryRequest) (*workloadresizerv1.GetUsageHistoryResponse, error) {
	if err := access.MustSee(s.config.Viewer.View(ctx), request.GetNamespace()); err != nil {
		return nil, err
	}
	if err := s.enabled(); err != nil {
		return nil, err
	}
	of := workloadOf(request.GetWorkload())
	found, known := s.config.Demands.Distributions(history.Container{Namespace: request.GetNamespace(), Kind: of.Kind, Workload: of.Name, Name: request.GetContainer()})
	if !known {
		return nil, unknown("container", request.GetNamespace()+"/"+of.Kind+"/"+of.Name+"/"+request.GetContainer(), notMeasured)
	}
	response := &workloadresizerv1.GetUsageHistoryResponse{}
	for i := range found {
		on := &found[i]
		response.NodeTypes = append(response.NodeTypes, &workloadresizerv1.NodeTypeHistory{
			NodeType: on.NodeType, FirstTime: values.Timestamp(on.First), LastTime: values.Timestamp(on.Last), Samples: int64(on.Samples),
			Cpu: buckets(on.CPU), Memory: buckets(on.Memory),
		})
	}
	return response, nil
}

func buckets(bars []histogram.Bar) []*workloadresizerv1.UsageBucket {
	all := make([]*workloadresizerv1.UsageBucket, len(bars))
	for i, b := range bars {
		all[i] = &workloadresizerv1.UsageBucket{From: b.From, To: b.To, Share: b.Share}
	}
	return all
}
