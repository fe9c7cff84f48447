package server

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

type ratioService struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	store *ratios.Store
}

// table returns the table in force, or the error that there is none.
func (s *ratioService) table() (*ratios.Table, error) {
	table, err := s.store.Ready()
	if err != nil {
		return nil, statusError(codes.Unavailable, reasonRatiosNotReady, fmt.Sprintf("not ready: %v", err))
	}
	return table, nil
}

func (s *ratioService) ListRatios(context.Context, *workloadresizerv1.ListRatiosRequest) (*workloadresizerv1.ListRatiosResponse, error) {
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListRatiosResponse{
		BaselineNodeType: table.Baseline,
		Bounds: &workloadresizerv1.Bounds{
			Cpu:    quantityRange(table.Bounds.CPU, sizing.CPUText),
			Memory: quantityRange(table.Bounds.Memory, sizing.MemoryText),
		},
		Revision: table.Revision,
	}
	for _, nodeType := range table.NodeTypes() {
		entry, _ := table.Lookup(nodeType)
		response.Ratios = append(response.Ratios, ratio(table, entry))
	}
	for _, source := range s.store.Sources() {
		status := &workloadresizerv1.RatioSource{Name: source.Name, Healthy: source.Err == nil, LastGoodTime: timestamp(source.LastGood)}
		if source.Err != nil {
			status.Message = source.Err.Error()
		}
		response.Sources = append(response.Sources, status)
	}
	return response, nil
}

func (s *ratioService) GetRatio(_ context.Context, request *workloadresizerv1.GetRatioRequest) (*workloadresizerv1.GetRatioResponse, error) {
	if request.GetNodeType() == "" {
		return nil, missingField("node_type", `the node type, e.g. "n4"`)
	}
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	entry, ok := table.Lookup(request.GetNodeType())
	if !ok {
		return nil, notFound(reasonNodeTypeUnknown, "node type", request.GetNodeType(), fmt.Sprintf("node type %q has no ratio", request.GetNodeType()))
	}
	return &workloadresizerv1.GetRatioResponse{Ratio: ratio(table, entry), Revision: table.Revision}, nil
}

func ratio(table *ratios.Table, entry *ratios.Entry) *workloadresizerv1.Ratio {
	r := &workloadresizerv1.Ratio{
		NodeType:     entry.NodeType,
		CpuPerf:      entry.Ratio.CPUPerf,
		MemoryPerf:   entry.Ratio.MemoryPerf,
		CpuFactor:    entry.CPUFactor.Float64(),
		MemoryFactor: entry.MemoryFactor.Float64(),
		Baseline:     entry.NodeType == table.Baseline,
		Provenance:   provenance(entry.Ratio.Provenance),
	}
	for _, c := range entry.Candidates {
		r.Candidates = append(r.Candidates, &workloadresizerv1.RatioCandidate{
			CpuPerf: c.CPUPerf, MemoryPerf: c.MemoryPerf, Provenance: provenance(c.Provenance),
		})
	}
	return r
}

func provenance(p ratios.Provenance) *workloadresizerv1.Provenance {
	return &workloadresizerv1.Provenance{Source: p.Source, UpdateTime: timestamp(p.UpdateTime), Author: p.Author}
}

func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func quantityRange(r ratios.Range, text func(int64) string) *workloadresizerv1.QuantityRange {
	out := &workloadresizerv1.QuantityRange{}
	if r.Min != 0 {
		out.Min = text(r.Min)
	}
	if r.Max != 0 {
		out.Max = text(r.Max)
	}
	return out
}
