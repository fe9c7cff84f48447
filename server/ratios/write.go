package ratios

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// writeRequest is what all requests for changes have.
type writeRequest interface {
	GetValidateOnly() bool
	GetReason() string
	GetAuthor() string
}

// writeResult is what came of a change.
type writeResult struct {
	// table is the one with the change.
	table  *ratios.Table
	change *workloadresizerv1.RatioChange
	// impact is nil unless the change was only checked.
	impact *workloadresizerv1.Impact
}

// write makes a change, or checks it. What is wrong with its request besides has
// been collected before.
func (s *Service) write(ctx context.Context, request writeRequest, wrong []rpcerror.Violation, change func(override.Request) (*override.Change, error)) (*writeResult, error) {
	wrong = append(wrong, fieldViolations("", override.TextFaults(request.GetReason(), request.GetAuthor())...)...)
	if len(wrong) > 0 {
		return nil, rpcerror.BadFields(wrong)
	}
	w := &writeResult{}
	made, err := change(override.Request{
		Author:       access.Author(ctx, request.GetAuthor()),
		Reason:       request.GetReason(),
		ValidateOnly: request.GetValidateOnly(),
		Check: func(layer *ratios.Layer) (err error) {
			if w.table, err = s.config.Store.WhatIf(override.Source, layer); err != nil {
				return &tableError{err}
			}
			return nil
		},
	})
	if err != nil {
		return nil, overrideError(err)
	}
	w.change = ratioChange(made)
	if request.GetValidateOnly() {
		if w.impact, err = s.Impact(ctx, w.table, s.config.Slots); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// enabled is nil if there can be overrides at all.
func (s *Service) enabled() error {
	if s.config.Overrides == nil {
		return rpcerror.New(rpcerror.OverridesDisabled,
			"the server has no overrides: start it with --ratio-sources=override,configmap")
	}
	return nil
}

// writable is nil if overrides can be set: there is a table to check them with.
func (s *Service) writable() error {
	if err := s.enabled(); err != nil {
		return err
	}
	_, err := s.Table()
	return err
}

// DeleteRatio implements the RatioService.
func (s *Service) DeleteRatio(ctx context.Context, request *workloadresizerv1.DeleteRatioRequest) (*workloadresizerv1.DeleteRatioResponse, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	w, err := s.write(ctx, request, nil, func(r override.Request) (*override.Change, error) {
		return s.config.Overrides.Delete(ctx, override.Deletion{NodeType: request.GetNodeType(), Etag: request.GetEtag(), AllowMissing: request.GetAllowMissing()}, r)
	})
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.DeleteRatioResponse{Ratio: globalRatio(w.table, request.GetNodeType(), true), Change: w.change, Impact: w.impact}, nil
}

// RollbackRatios implements the RatioService.
func (s *Service) RollbackRatios(ctx context.Context, request *workloadresizerv1.RollbackRatiosRequest) (*workloadresizerv1.RollbackRatiosResponse, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	w, err := s.write(ctx, request, nil, func(r override.Request) (*override.Change, error) {
		return s.config.Overrides.Rollback(ctx, override.Rollback{To: request.GetToChange(), Newest: request.GetExpectedNewestChange()}, r)
	})
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.RollbackRatiosResponse{Change: w.change, Impact: w.impact}, nil
}
