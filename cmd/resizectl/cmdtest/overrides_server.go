package cmdtest

import (
	"context"
	"slices"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// change returns what the server would store, or has stored.
func (s *Server) change(validateOnly bool, reason string, deltas ...*workloadresizerv1.OverrideDelta) *workloadresizerv1.OverrideChange {
	if s.Unchanged {
		return nil
	}
	change := &workloadresizerv1.OverrideChange{CreateTime: timestamppb.New(Since), Author: "ann", Reason: reason, Deltas: deltas}
	if !validateOnly {
		change.Number = new(int64(5))
	}
	return change
}

// impactOf returns an impact only for dry runs.
func (s *Server) impactOf(validateOnly bool) *workloadresizerv1.Impact {
	if !validateOnly {
		return nil
	}
	return s.Impact
}

// overrideWrite is a request to change overrides.
type overrideWrite interface {
	proto.Message
	GetValidateOnly() bool
	GetAllowImplausible() bool
}

func (s *Server) endWrite(ctx context.Context, req overrideWrite) error {
	s.note(req)
	switch err := s.end(ctx); {
	case err != nil:
		return err
	case s.Unconfirmed != nil && !req.GetAllowImplausible():
		return s.Unconfirmed
	case req.GetValidateOnly():
		return nil
	}
	return s.Refused
}

// BatchUpdateOverrides implements workloadresizerv1.OverrideServiceServer.
func (s *Server) BatchUpdateOverrides(ctx context.Context, req *workloadresizerv1.BatchUpdateOverridesRequest) (*workloadresizerv1.BatchUpdateOverridesResponse, error) {
	if err := s.endWrite(ctx, req); err != nil {
		return nil, err
	}
	resp := &workloadresizerv1.BatchUpdateOverridesResponse{Impact: s.impactOf(req.GetValidateOnly())}
	var deltas []*workloadresizerv1.OverrideDelta
	for _, update := range req.GetRequests() {
		override, ratio, delta := s.updated(update)
		resp.Overrides, resp.Ratios, deltas = append(resp.Overrides, override), append(resp.Ratios, ratio), append(deltas, delta)
	}
	resp.Change = s.change(req.GetValidateOnly(), req.GetReason(), deltas...)
	return resp, nil
}

// UpdateOverride implements workloadresizerv1.OverrideServiceServer.
func (s *Server) UpdateOverride(ctx context.Context, req *workloadresizerv1.UpdateOverrideRequest) (*workloadresizerv1.UpdateOverrideResponse, error) {
	if err := s.endWrite(ctx, req); err != nil {
		return nil, err
	}
	override, ratio, delta := s.updated(req)
	return &workloadresizerv1.UpdateOverrideResponse{
		Override: override, Ratio: ratio, Impact: s.impactOf(req.GetValidateOnly()), Change: s.change(req.GetValidateOnly(), req.GetReason(), delta),
	}, nil
}

// updated returns an override and its ratio with its update.
func (s *Server) updated(update *workloadresizerv1.UpdateOverrideRequest) (*workloadresizerv1.Override, *workloadresizerv1.Ratio, *workloadresizerv1.OverrideDelta) {
	to := update.GetOverride()
	ratio := RatioIn(s.Ratios.GetRatios(), to.GetNodeType())
	if ratio == nil {
		ratio = &workloadresizerv1.Ratio{NodeType: to.GetNodeType()}
	}
	mask := update.GetUpdateMask().GetPaths()
	if slices.Contains(mask, "cpu_perf") {
		ratio.CpuPerf, ratio.CpuFactor = to.GetCpuPerf(), 1/to.GetCpuPerf()
	}
	if slices.Contains(mask, "memory_perf") {
		ratio.MemoryPerf, ratio.MemoryFactor = to.GetMemoryPerf(), 1/to.GetMemoryPerf()
	}
	if slices.Contains(mask, "expire_time") {
		ratio.ExpireTime = to.GetExpireTime()
	}
	ratio.Provenance = &workloadresizerv1.Provenance{Source: "override", Author: "ann", UpdateTime: timestamppb.New(Since)}
	ratio.Candidates, ratio.Etag = nil, "after"
	override := &workloadresizerv1.Override{
		NodeType: ratio.GetNodeType(), CpuPerf: &ratio.CpuPerf, MemoryPerf: &ratio.MemoryPerf, ExpireTime: ratio.GetExpireTime(),
		Author: "ann", UpdateTime: timestamppb.New(Since), Etag: "override-after",
	}
	return override, ratio, &workloadresizerv1.OverrideDelta{NodeType: ratio.GetNodeType(), To: &workloadresizerv1.OverrideValue{
		CpuPerf: ratio.GetCpuPerf(), MemoryPerf: ratio.GetMemoryPerf(), ExpireTime: ratio.GetExpireTime(),
	}}
}

// DeleteOverride implements workloadresizerv1.OverrideServiceServer.
func (s *Server) DeleteOverride(ctx context.Context, req *workloadresizerv1.DeleteOverrideRequest) (*workloadresizerv1.DeleteOverrideResponse, error) {
	if err := s.endWrite(ctx, req); err != nil {
		return nil, err
	}
	resp := &workloadresizerv1.DeleteOverrideResponse{Impact: s.impactOf(req.GetValidateOnly())}
	ratio := RatioIn(s.Ratios.GetRatios(), req.GetNodeType())
	if candidates := ratio.GetCandidates(); len(candidates) > 1 {
		next := candidates[1]
		resp.Ratio = &workloadresizerv1.Ratio{
			NodeType: req.GetNodeType(), CpuPerf: next.GetCpuPerf(), MemoryPerf: next.GetMemoryPerf(),
			CpuFactor: 1 / next.GetCpuPerf(), MemoryFactor: 1 / next.GetMemoryPerf(),
			Provenance: next.GetProvenance(), Candidates: candidates[1:], Etag: "none",
		}
	}
	resp.Change = s.change(req.GetValidateOnly(), req.GetReason(), &workloadresizerv1.OverrideDelta{
		NodeType: req.GetNodeType(), From: &workloadresizerv1.OverrideValue{CpuPerf: ratio.GetCpuPerf(), MemoryPerf: ratio.GetMemoryPerf(), ExpireTime: ratio.GetExpireTime()},
	})
	return resp, nil
}

// RollbackOverrides implements workloadresizerv1.OverrideServiceServer.
func (s *Server) RollbackOverrides(ctx context.Context, req *workloadresizerv1.RollbackOverridesRequest) (*workloadresizerv1.RollbackOverridesResponse, error) {
	if err := s.endWrite(ctx, req); err != nil {
		return nil, err
	}
	resp := &workloadresizerv1.RollbackOverridesResponse{
		Impact: s.impactOf(req.GetValidateOnly()),
		Change: s.change(req.GetValidateOnly(), req.GetReason(), &workloadresizerv1.OverrideDelta{
			NodeType: "c3", From: &workloadresizerv1.OverrideValue{CpuPerf: 1.4, MemoryPerf: 1},
		}, &workloadresizerv1.OverrideDelta{
			NodeType: "n4",
			From:     &workloadresizerv1.OverrideValue{CpuPerf: 1.08, MemoryPerf: 1},
			To:       &workloadresizerv1.OverrideValue{CpuPerf: 1.1, MemoryPerf: 1, ExpireTime: timestamppb.New(Since.Add(24 * time.Hour))},
		}),
	}
	if resp.Change != nil {
		resp.Change.RollbackTo = req.ToChange
	}
	return resp, nil
}

// ListOverrides implements workloadresizerv1.OverrideServiceServer.
func (s *Server) ListOverrides(ctx context.Context, req *workloadresizerv1.ListOverridesRequest) (*workloadresizerv1.ListOverridesResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	resp := &workloadresizerv1.ListOverridesResponse{}
	resp.Overrides, resp.NextPageToken = pageOf(s.Overrides, req.GetPageToken(), 1)
	return resp, nil
}

// ListOverrideChanges has at most two changes on a page, which makes several pages.
func (s *Server) ListOverrideChanges(ctx context.Context, req *workloadresizerv1.ListOverrideChangesRequest) (*workloadresizerv1.ListOverrideChangesResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	resp := &workloadresizerv1.ListOverrideChangesResponse{}
	resp.Changes, resp.NextPageToken = pageOf(s.Changes, req.GetPageToken(), min(int(req.GetPageSize()), 2))
	return resp, nil
}
