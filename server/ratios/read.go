package ratios

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// ListRatios implements workloadresizerv1.RatioServiceServer.
func (s *Service) ListRatios(context.Context, *workloadresizerv1.ListRatiosRequest) (*workloadresizerv1.ListRatiosResponse, error) {
	table, err := s.Table()
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListRatiosResponse{
		BaselineNodeType: table.Baseline,
		Bounds:           bounds(table.Bounds),
		Revision:         table.Revision,
		MaxSpeedRatio:    table.Profiles()[0].MaxSpeedRatio,
	}
	messages := s.log.messages.of(table)
	for _, nodeType := range table.NodeTypes() {
		response.Ratios = append(response.Ratios, messages[nodeType])
	}
	for _, rule := range table.Profiles()[1:] {
		response.Rules = append(response.Rules, ratioRule(rule))
	}
	for _, source := range s.config.Store.Sources() {
		told := &workloadresizerv1.RatioSource{Name: source.Name, Healthy: source.Err == nil, LastGoodTime: translate.Timestamp(source.LastGood)}
		if source.Err != nil {
			told.Message = source.Err.Error()
		} else if err := s.missing(source.Name); err != nil {
			told.Message = err.Error()
		}
		response.Sources = append(response.Sources, told)
	}
	return response, nil
}

// missing returns why nothing can be written to a healthy source.
func (s *Service) missing(source string) error {
	if s.config.Overrides == nil || source != override.Source {
		return nil
	}
	return s.config.Overrides.Missing()
}

// GetRatio implements workloadresizerv1.RatioServiceServer.
func (s *Service) GetRatio(_ context.Context, request *workloadresizerv1.GetRatioRequest) (*workloadresizerv1.GetRatioResponse, error) {
	table, err := s.Table()
	if err != nil {
		return nil, err
	}
	r := s.log.messages.of(table)[request.GetNodeType()]
	if r == nil {
		return nil, nodeTypeUnknown(request.GetNodeType())
	}
	return &workloadresizerv1.GetRatioResponse{Ratio: r, Revision: table.Revision}, nil
}
