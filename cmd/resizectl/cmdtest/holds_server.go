package cmdtest

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Restore implements workloadresizerv1.HoldServiceServer.
func (s *Server) Restore(ctx context.Context, req *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	hold := Stored(workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, req.GetScope(), req.GetReason(), req.GetTtl())
	hold.Emergency = req.GetEmergency() && !s.WithoutEmergencies
	return &workloadresizerv1.RestoreResponse{Hold: hold, Pods: s.Pods}, nil
}

// Pause implements workloadresizerv1.HoldServiceServer.
func (s *Server) Pause(ctx context.Context, req *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.PauseResponse{Hold: Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, req.GetScope(), req.GetReason(), req.GetTtl()), Pods: s.Pods, OverruledBy: s.Wider}, nil
}

// Resume implements workloadresizerv1.HoldServiceServer.
func (s *Server) Resume(ctx context.Context, req *workloadresizerv1.ResumeRequest) (*workloadresizerv1.ResumeResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.ResumeResponse{Released: s.Holds, Pods: s.Pods, Nested: s.Nested, StillHeldBy: s.Wider}, nil
}

// GetHold implements workloadresizerv1.HoldServiceServer.
func (s *Server) GetHold(ctx context.Context, req *workloadresizerv1.GetHoldRequest) (*workloadresizerv1.GetHoldResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.GetHoldResponse{Hold: Stored(req.GetKind(), req.GetScope(), "", nil), Progress: s.Progress}, nil
}

// ListHolds implements workloadresizerv1.HoldServiceServer.
func (s *Server) ListHolds(ctx context.Context, req *workloadresizerv1.ListHoldsRequest) (*workloadresizerv1.ListHoldsResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.ListHoldsResponse{Holds: s.Holds, Problem: s.Problem, Freeze: s.Freezes}, nil
}

// Freeze implements workloadresizerv1.HoldServiceServer.
func (s *Server) Freeze(ctx context.Context, req *workloadresizerv1.FreezeRequest) (*workloadresizerv1.FreezeResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.FreezeResponse{Freeze: &workloadresizerv1.Freeze{Reason: req.GetReason(), Author: "ann", CreateTime: timestamppb.New(Since)}}, nil
}

// Unfreeze implements workloadresizerv1.HoldServiceServer.
func (s *Server) Unfreeze(ctx context.Context, req *workloadresizerv1.UnfreezeRequest) (*workloadresizerv1.UnfreezeResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.UnfreezeResponse{Released: s.Freezes}, nil
}

// GetFreeze implements workloadresizerv1.HoldServiceServer.
func (s *Server) GetFreeze(ctx context.Context, req *workloadresizerv1.GetFreezeRequest) (*workloadresizerv1.GetFreezeResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.GetFreezeResponse{Freeze: s.Freezes}, nil
}
