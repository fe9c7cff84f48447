package server

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

type ratioService struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	store *ratios.Store
	// overrides are nil if the store has no such source.
	overrides *override.Store
	// impacts are nil where there is no cluster.
	impacts impacts
	viewer  access.Viewer
	log     *ratioLog
	watches *streams.Watches
	// slots are for what changes would mean. They are not those of previews: who
	// may only look must not keep others from changing something.
	slots *limits.Slots
}

// table returns the table in force, or the error that there is none.
func (s *ratioService) table() (*ratios.Table, error) { return translate.ReadyTable(s.store) }

func (s *ratioService) ListRatios(context.Context, *workloadresizerv1.ListRatiosRequest) (*workloadresizerv1.ListRatiosResponse, error) {
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListRatiosResponse{
		BaselineNodeType: table.Baseline,
		Bounds:           bounds(table.Bounds),
		Revision:         table.Revision,
	}
	messages := s.log.messages.of(table)
	for _, nodeType := range table.NodeTypes() {
		response.Ratios = append(response.Ratios, messages[nodeType])
	}
	for _, rule := range table.Profiles()[1:] {
		response.Rules = append(response.Rules, ratioRule(rule))
	}
	for _, source := range s.store.Sources() {
		status := &workloadresizerv1.RatioSource{Name: source.Name, Healthy: source.Err == nil, LastGoodTime: translate.Timestamp(source.LastGood)}
		if source.Err != nil {
			status.Message = source.Err.Error()
		} else if err := s.missing(source.Name); err != nil {
			status.Message = err.Error()
		}
		response.Sources = append(response.Sources, status)
	}
	return response, nil
}

// missing says why nothing can be written to a source that is well.
func (s *ratioService) missing(source string) error {
	if s.overrides == nil || source != override.Source {
		return nil
	}
	return s.overrides.Missing()
}

func (s *ratioService) GetRatio(_ context.Context, request *workloadresizerv1.GetRatioRequest) (*workloadresizerv1.GetRatioResponse, error) {
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	r := s.log.messages.of(table)[request.GetNodeType()]
	if r == nil {
		return nil, nodeTypeUnknown(request.GetNodeType())
	}
	return &workloadresizerv1.GetRatioResponse{Ratio: r, Revision: table.Revision}, nil
}
