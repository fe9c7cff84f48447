package cmdtest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// RatioScript is what the scripted server answers to writes and watches, and about the
// history.
type RatioScript struct {
	// Changes is the history, newest first.
	Changes []*workloadresizerv1.RatioChange
	Impact  *workloadresizerv1.Impact
	// Unchanged makes writes change nothing.
	Unchanged bool
	// Refused fails writes, but not dry runs.
	Refused error
	// Unconfirmed fails writes that do not allow implausible ratios.
	Unconfirmed error
	Watches     Streams[*workloadresizerv1.WatchRatiosResponse]
}

// GetRatio implements workloadresizerv1.RatioServiceServer.
func (s *Server) GetRatio(ctx context.Context, req *workloadresizerv1.GetRatioRequest) (*workloadresizerv1.GetRatioResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	if ratio := s.ratio(req.GetNodeType()); ratio != nil {
		return &workloadresizerv1.GetRatioResponse{Ratio: ratio, Revision: s.Ratios.GetRevision()}, nil
	}
	return nil, status.Errorf(codes.NotFound, "no source names node type %q", req.GetNodeType())
}

// ratio returns a copy of the ratio of a node type; nil if there is none.
func (s *Server) ratio(nodeType string) *workloadresizerv1.Ratio {
	for _, ratio := range s.Ratios.GetRatios() {
		if ratio.GetNodeType() == nodeType {
			return proto.CloneOf(ratio)
		}
	}
	return nil
}

// change returns what the server would store, or has stored.
func (s *Server) change(validateOnly bool, reason string, deltas ...*workloadresizerv1.RatioDelta) *workloadresizerv1.RatioChange {
	if s.Unchanged {
		return nil
	}
	change := &workloadresizerv1.RatioChange{CreateTime: timestamppb.New(Since), Author: "ann", Reason: reason, Deltas: deltas}
	if !validateOnly {
		change.Number = 4
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

// ratioWrite is a request to change overrides.
type ratioWrite interface {
	proto.Message
	GetValidateOnly() bool
	GetAllowImplausible() bool
}

func (s *Server) endWrite(ctx context.Context, req ratioWrite) error {
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

// BatchUpdateRatios implements workloadresizerv1.RatioServiceServer.
func (s *Server) BatchUpdateRatios(ctx context.Context, req *workloadresizerv1.BatchUpdateRatiosRequest) (*workloadresizerv1.BatchUpdateRatiosResponse, error) {
	if err := s.endWrite(ctx, req); err != nil {
		return nil, err
	}
	resp := &workloadresizerv1.BatchUpdateRatiosResponse{Impact: s.impactOf(req.GetValidateOnly())}
	var deltas []*workloadresizerv1.RatioDelta
	for _, update := range req.GetRequests() {
		ratio, delta := s.updated(update)
		resp.Ratios, deltas = append(resp.Ratios, ratio), append(deltas, delta)
	}
	resp.Change = s.change(req.GetValidateOnly(), req.GetReason(), deltas...)
	return resp, nil
}

// UpdateRatio implements workloadresizerv1.RatioServiceServer.
func (s *Server) UpdateRatio(ctx context.Context, req *workloadresizerv1.UpdateRatioRequest) (*workloadresizerv1.UpdateRatioResponse, error) {
	if err := s.endWrite(ctx, req); err != nil {
		return nil, err
	}
	ratio, delta := s.updated(req)
	return &workloadresizerv1.UpdateRatioResponse{
		Ratio: ratio, Impact: s.impactOf(req.GetValidateOnly()), Change: s.change(req.GetValidateOnly(), req.GetReason(), delta),
	}, nil
}

// updated returns a ratio with its update.
func (s *Server) updated(update *workloadresizerv1.UpdateRatioRequest) (*workloadresizerv1.Ratio, *workloadresizerv1.RatioDelta) {
	ratio := s.ratio(update.GetRatio().GetNodeType())
	if ratio == nil {
		ratio = &workloadresizerv1.Ratio{NodeType: update.GetRatio().GetNodeType()}
	}
	mask := update.GetUpdateMask().GetPaths()
	if slices.Contains(mask, "cpu_perf") {
		ratio.CpuPerf, ratio.CpuFactor = update.GetRatio().GetCpuPerf(), 1/update.GetRatio().GetCpuPerf()
	}
	if slices.Contains(mask, "memory_perf") {
		ratio.MemoryPerf, ratio.MemoryFactor = update.GetRatio().GetMemoryPerf(), 1/update.GetRatio().GetMemoryPerf()
	}
	if slices.Contains(mask, "expire_time") {
		ratio.ExpireTime = update.GetRatio().GetExpireTime()
	}
	ratio.Provenance = &workloadresizerv1.Provenance{Source: "override", Author: "ann", UpdateTime: timestamppb.New(Since)}
	ratio.Candidates, ratio.Etag = nil, "after"
	return ratio, &workloadresizerv1.RatioDelta{NodeType: ratio.GetNodeType(), To: &workloadresizerv1.RatioOverride{
		CpuPerf: ratio.GetCpuPerf(), MemoryPerf: ratio.GetMemoryPerf(), ExpireTime: ratio.GetExpireTime(),
	}}
}

// DeleteRatio implements workloadresizerv1.RatioServiceServer.
func (s *Server) DeleteRatio(ctx context.Context, req *workloadresizerv1.DeleteRatioRequest) (*workloadresizerv1.DeleteRatioResponse, error) {
	if err := s.endWrite(ctx, req); err != nil {
		return nil, err
	}
	resp := &workloadresizerv1.DeleteRatioResponse{Impact: s.impactOf(req.GetValidateOnly())}
	ratio := s.ratio(req.GetNodeType())
	if candidates := ratio.GetCandidates(); len(candidates) > 1 {
		next := candidates[1]
		resp.Ratio = &workloadresizerv1.Ratio{
			NodeType: req.GetNodeType(), CpuPerf: next.GetCpuPerf(), MemoryPerf: next.GetMemoryPerf(),
			CpuFactor: 1 / next.GetCpuPerf(), MemoryFactor: 1 / next.GetMemoryPerf(),
			Provenance: next.GetProvenance(), Candidates: candidates[1:], Etag: "none",
		}
	}
	resp.Change = s.change(req.GetValidateOnly(), req.GetReason(), &workloadresizerv1.RatioDelta{
		NodeType: req.GetNodeType(), From: &workloadresizerv1.RatioOverride{CpuPerf: ratio.GetCpuPerf(), MemoryPerf: ratio.GetMemoryPerf(), ExpireTime: ratio.GetExpireTime()},
	})
	return resp, nil
}

// RollbackRatios implements workloadresizerv1.RatioServiceServer.
func (s *Server) RollbackRatios(ctx context.Context, req *workloadresizerv1.RollbackRatiosRequest) (*workloadresizerv1.RollbackRatiosResponse, error) {
	if err := s.endWrite(ctx, req); err != nil {
		return nil, err
	}
	resp := &workloadresizerv1.RollbackRatiosResponse{
		Impact: s.impactOf(req.GetValidateOnly()),
		Change: s.change(req.GetValidateOnly(), req.GetReason(), &workloadresizerv1.RatioDelta{
			NodeType: "c3", From: &workloadresizerv1.RatioOverride{CpuPerf: 1.4, MemoryPerf: 1},
		}, &workloadresizerv1.RatioDelta{
			NodeType: "n4",
			From:     &workloadresizerv1.RatioOverride{CpuPerf: 1.08, MemoryPerf: 1},
			To:       &workloadresizerv1.RatioOverride{CpuPerf: 1.1, MemoryPerf: 1, ExpireTime: timestamppb.New(Since.Add(24 * time.Hour))},
		}),
	}
	if resp.Change != nil {
		resp.Change.RollbackTo = req.ToChange
	}
	return resp, nil
}

// ListRatioChanges numbers its pages by the changes before them.
func (s *Server) ListRatioChanges(ctx context.Context, req *workloadresizerv1.ListRatioChangesRequest) (*workloadresizerv1.ListRatioChangesResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	begin := 0
	if req.GetPageToken() != "" {
		var err error
		if begin, err = strconv.Atoi(req.GetPageToken()); err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "page token: %v", err)
		}
	}
	// A page has at most two changes, which makes several pages.
	end := min(begin+min(int(req.GetPageSize()), 2), len(s.Changes))
	resp := &workloadresizerv1.ListRatioChangesResponse{Changes: s.Changes[begin:end]}
	if end < len(s.Changes) {
		resp.NextPageToken = strconv.Itoa(end)
	}
	return resp, nil
}

// WatchRatios implements workloadresizerv1.RatioServiceServer.
func (s *Server) WatchRatios(req *workloadresizerv1.WatchRatiosRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchRatiosResponse]) error {
	s.note(req)
	if err := s.end(stream.Context()); err != nil {
		return err
	}
	return s.Watches.serve(stream.Context(), req.GetResumeToken(), stream.Send)
}
