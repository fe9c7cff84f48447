package client

import (
	"context"
	"errors"
	"io"
	"iter"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// PlanStream is a stream of one plan per pod, then their summary. It is not safe for
// concurrent use.
type PlanStream struct {
	ctx        context.Context
	client     *Client
	request    *workloadresizerv1.PreviewPlansRequest
	onProgress func(done, total int64)
	summary    *workloadresizerv1.PlanSummary
}

// All calls the server and yields the plans as they arrive, ordered by namespace and name.
// It holds no more than a few in memory. An error is yielded once, last, without a plan. It
// is a *BrokenStreamError if plans had arrived before it or if the stream ended without its
// summary. Without an error, the plans are complete. Breaking out of the loop ends the call.
func (s *PlanStream) All() iter.Seq2[*workloadresizerv1.Plan, error] {
	return func(yield func(*workloadresizerv1.Plan, error) bool) {
		s.summary = nil
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		stream, err := s.client.plans.PreviewPlans(ctx, s.request)
		if err != nil {
			yield(nil, err)
			return
		}
		var summary *workloadresizerv1.PlanSummary
		for received := 0; ; {
			resp, err := stream.Recv()
			if errors.Is(err, io.EOF) && summary != nil {
				s.summary = summary
				return
			}
			if err != nil {
				yield(nil, endedEarly(received, err))
				return
			}
			if got := resp.GetSummary(); got != nil {
				summary = got
			}
			if progress := resp.GetProgress(); progress != nil && s.onProgress != nil {
				s.onProgress(progress.GetDone(), progress.GetTotal())
			}
			if plan := resp.GetPlan(); plan != nil {
				received++
				if !yield(plan, nil) {
					return
				}
			}
		}
	}
}

// Summary returns the summary of the plans after All has yielded all of them; nil before
// that, and if the plans were not complete.
func (s *PlanStream) Summary() *workloadresizerv1.PlanSummary { return s.summary }

// endedEarly returns the error of a stream that err ended early.
func endedEarly(received int, err error) error {
	if errors.Is(err, io.EOF) {
		return &BrokenStreamError{Received: received, Err: ErrNoSummary}
	}
	if received > 0 {
		return &BrokenStreamError{Received: received, Err: err}
	}
	return err
}
