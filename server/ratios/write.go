package ratios

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// writeRequest has the fields that all requests for changes share.
type writeRequest interface {
	GetValidateOnly() bool
	GetReason() string
	GetAuthor() string
	GetAllowImplausible() bool
}

// writeResult is the result of a change.
type writeResult struct {
	// table is the table with the change.
	table  *ratios.Table
	change *workloadresizerv1.RatioChange
	// impact is nil unless the change was only validated.
	impact *workloadresizerv1.Impact
}

// write makes or validates a change. wrong has the faults of its request that are already
// known.
func (s *Service) write(ctx context.Context, request writeRequest, wrong []rpcerror.Violation, change func(override.Request) (*override.Change, error)) (*writeResult, error) {
	wrong = append(wrong, fieldViolations("", override.TextFaults(request.GetReason(), request.GetAuthor())...)...)
	if len(wrong) > 0 {
		return nil, rpcerror.BadFields(wrong)
	}
	w := &writeResult{}
	made, err := change(override.Request{
		Author:       access.Author(ctx, request.GetAuthor()),
		CredentialID: access.Credential(ctx),
		Reason:       request.GetReason(),
		ValidateOnly: request.GetValidateOnly(),
		Check: func(before, after *ratios.Layer) (err error) {
			if w.table, err = s.whatIf(after); err != nil {
				return &tableError{err}
			}
			if request.GetAllowImplausible() {
				return nil
			}
			return s.checkPlausible(w.table, before)
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

// whatIf returns the table that would result from these overrides.
func (s *Service) whatIf(overrides *ratios.Layer) (*ratios.Table, error) {
	return s.config.Store.WhatIf(override.Source, overrides)
}

// enabled returns an error if there can be no overrides.
func (s *Service) enabled() error {
	if s.config.Overrides == nil {
		return rpcerror.New(rpcerror.OverridesDisabled,
			"the server does not use overrides: add override to its --ratio-sources")
	}
	return nil
}

// writable returns an error if overrides cannot be set, or if there is no table to validate
// them with.
func (s *Service) writable() error {
	if err := s.enabled(); err != nil {
		return err
	}
	_, err := s.Table()
	return err
}

// DeleteRatio implements workloadresizerv1.RatioServiceServer.
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

// RollbackRatios implements workloadresizerv1.RatioServiceServer.
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
