package usage

import (
	"context"
	"fmt"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/translate"
	"github.com/workload-resizer/workload-resizer/server/values"
	"github.com/workload-resizer/workload-resizer/usage/histogram"
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
	of := workloadOf(request.GetNamespace(), request.GetWorkload())
	found, err := s.config.Demands.Explain(ctx, of)
	if err != nil {
		return nil, translate.Error(err)
	}
	if len(found) == 0 {
		return nil, s.unknownWorkload(of)
	}
	response := &workloadresizerv1.GetRecommendationResponse{Currency: currency(table)}
	for i := range found {
		response.Containers = append(response.Containers, explained(&found[i], table.Prices != nil))
	}
	return response, nil
}

func explained(e *demand.Explained, priced bool) *workloadresizerv1.ExplainedRecommendation {
	m := &workloadresizerv1.ExplainedRecommendation{Recommendation: message(e.Item, priced)}
	for i := range e.Measured {
		on := &e.Measured[i]
		measured := &workloadresizerv1.MeasuredNodeType{
			NodeType: on.NodeType, FirstTime: values.Timestamp(on.First), LastTime: values.Timestamp(on.Last), Samples: int64(on.Samples),
			Throttled: on.Throttled, Percentile: Amounts(on.Percentile),
		}
		if on.SpeedKnown {
			measured.CpuSpeed, measured.MemorySpeed = &on.Speed.CPU, &on.Speed.Memory
		}
		m.Measured = append(m.Measured, measured)
	}
	for _, step := range e.Steps {
		m.Steps = append(m.Steps, &workloadresizerv1.RecommendationStep{Name: step.Name, Amounts: Amounts(step.Amounts), Message: step.Message})
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
	of := workloadOf(request.GetNamespace(), request.GetWorkload())
	found := s.config.Demands.Histories(of, request.GetContainer())
	switch len(found) {
	case 0:
		return nil, s.unknownContainer(of, request.GetContainer())
	case 1:
	default:
		names := make([]string, len(found))
		for i := range found {
			names[i] = found[i].Container.Kind + "/" + found[i].Container.Workload
		}
		return nil, rpcerror.BadField("workload", fmt.Sprintf("has pods that count for several workloads with containers of this name: name one of %s", strings.Join(names, ", ")))
	}
	c := found[0].Container
	response := &workloadresizerv1.GetUsageHistoryResponse{Workload: &workloadresizerv1.Workload{Kind: c.Kind, Name: c.Workload}}
	for i := range found[0].On {
		on := &found[0].On[i]
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
