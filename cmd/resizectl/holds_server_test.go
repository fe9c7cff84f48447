package main

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// since is when every hold of the scripted server began.
var since = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// stored is the hold that a real server would store. Its uid is that of every
// plan of the fixtures.
func stored(kind workloadresizerv1.HoldKind, scope *workloadresizerv1.HoldScope, reason string, ttl *durationpb.Duration) *workloadresizerv1.Hold {
	hold := &workloadresizerv1.Hold{Kind: kind, Scope: scope, Reason: reason, Author: "ann", CreateTime: timestamppb.New(since)}
	if scope.GetPod() != "" {
		hold.Uid = web().GetUid()
	}
	if ttl != nil {
		hold.ExpireTime = timestamppb.New(since.Add(ttl.AsDuration()))
	}
	return hold
}

func (s *scripted) Restore(ctx context.Context, req *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.RestoreResponse{Hold: stored(workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, req.GetScope(), req.GetReason(), req.GetTtl()), Pods: s.pods}, nil
}

func (s *scripted) Pause(ctx context.Context, req *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.PauseResponse{Hold: stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, req.GetScope(), req.GetReason(), req.GetTtl()), Pods: s.pods, OverruledBy: s.wider}, nil
}

func (s *scripted) Resume(ctx context.Context, req *workloadresizerv1.ResumeRequest) (*workloadresizerv1.ResumeResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.ResumeResponse{Released: s.holds, Pods: s.pods, Nested: s.nested, StillHeldBy: s.wider}, nil
}

func (s *scripted) ListHolds(ctx context.Context, req *workloadresizerv1.ListHoldsRequest) (*workloadresizerv1.ListHoldsResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.ListHoldsResponse{Holds: s.holds, Problem: s.problem}, nil
}
