package overrides

import (
	"context"

	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// writeRequest has the fields that all requests for changes share.
type writeRequest interface {
	proto.Message
	GetValidateOnly() bool
	GetReason() string
	GetAuthor() string
	GetAllowImplausible() bool
	GetRequestId() string
}

// write is a change to make or to validate.
type write struct {
	request writeRequest
	// wrong has the faults of the request that are already known.
	wrong []rpcerror.Violation
	// about are the node types that the request names.
	about []seen
	// change makes the change.
	change func(override.Request) (*override.Change, error)
}

// seen is what a caller has seen of a node type.
type seen struct {
	nodeType string
	// etag of its ratio; empty if the change does not depend on it.
	etag string
}

// writeResult is the result of a change.
type writeResult struct {
	// overrides and ratios belong to the node types of the request; nil where there are none.
	overrides []*workloadresizerv1.Override
	ratios    []*workloadresizerv1.Ratio
	change    *workloadresizerv1.OverrideChange
	// impact is nil unless the change was only validated.
	impact *workloadresizerv1.Impact
}

// write makes or validates a change.
func (s *Service) write(ctx context.Context, w *write) (*writeResult, error) {
	request := w.request
	if wrong := append(w.wrong, fieldViolations("", override.TextFaults(request.GetReason(), request.GetAuthor())...)...); len(wrong) > 0 {
		return nil, rpcerror.BadFields(wrong)
	}
	author, err := access.Author(ctx, request.GetAuthor())
	if err != nil {
		return nil, err
	}
	var table *ratios.Table
	var overrides map[string]override.Override
	made, err := w.change(override.Request{
		Author: author, CredentialID: access.Credential(ctx), Reason: request.GetReason(),
		ID: request.GetRequestId(), Digest: translate.RequestDigest(request, author),
		ValidateOnly: request.GetValidateOnly(),
		Check: func(before, after map[string]override.Override) (err error) {
			overrides = after
			if table, err = s.with(after); err != nil {
				return &tableError{err}
			}
			// There may be none, for example because an override of the baseline has expired.
			was, _ := s.with(before)
			if err := s.checkSeen(was, w.about); err != nil || request.GetAllowImplausible() {
				return err
			}
			return s.checkPlausible(was, table)
		},
	})
	if err != nil {
		return nil, overrideError(err)
	}
	if table == nil {
		// The same request was sent before.
		if table, err = s.config.Ratios.Table(); err != nil {
			return nil, err
		}
		if overrides, err = s.inEffect(); err != nil {
			return nil, err
		}
	}
	result := &writeResult{change: changeMessage(made)}
	for _, about := range w.about {
		r, _ := s.config.Ratios.Ratio(table, about.nodeType)
		result.ratios = append(result.ratios, r)
		var m *workloadresizerv1.Override
		if o, ok := overrides[about.nodeType]; ok {
			m = message(about.nodeType, o)
		}
		result.overrides = append(result.overrides, m)
	}
	if request.GetValidateOnly() {
		if result.impact, err = s.config.Ratios.Impact(ctx, table, s.config.Slots); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// with returns the table that would result from these overrides.
func (s *Service) with(overrides map[string]override.Override) (*ratios.Table, error) {
	return s.config.Store.WhatIf(ratios.Assumed{Source: override.Source, Layer: override.Layer(overrides)})
}

// checkSeen returns an error if a ratio in the table is not the one that the caller has seen; table
// is nil if there is none.
func (s *Service) checkSeen(table *ratios.Table, about []seen) error {
	for _, a := range about {
		if a.etag == "" {
			continue
		}
		if table == nil {
			return &staleRatioError{nodeType: a.nodeType}
		}
		if _, now := s.config.Ratios.Ratio(table, a.nodeType); now != a.etag {
			return &staleRatioError{a.nodeType, now}
		}
	}
	return nil
}

// DeleteOverride implements workloadresizerv1.OverrideServiceServer.
func (s *Service) DeleteOverride(ctx context.Context, request *workloadresizerv1.DeleteOverrideRequest) (*workloadresizerv1.DeleteOverrideResponse, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	w, err := s.write(ctx, &write{
		request: request, about: []seen{{request.GetNodeType(), request.GetRatioEtag()}},
		change: func(r override.Request) (*override.Change, error) {
			return s.config.Overrides.Delete(ctx, override.Deletion{NodeType: request.GetNodeType(), Etag: request.GetEtag(), AllowMissing: request.GetAllowMissing()}, r)
		},
	})
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.DeleteOverrideResponse{Ratio: w.ratios[0], Change: w.change, Impact: w.impact}, nil
}

// RollbackOverrides implements workloadresizerv1.OverrideServiceServer.
func (s *Service) RollbackOverrides(ctx context.Context, request *workloadresizerv1.RollbackOverridesRequest) (*workloadresizerv1.RollbackOverridesResponse, error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	w, err := s.write(ctx, &write{request: request, change: func(r override.Request) (*override.Change, error) {
		return s.config.Overrides.Rollback(ctx, override.Rollback{To: request.GetToChange(), Newest: request.ExpectedNewestChange}, r)
	}})
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.RollbackOverridesResponse{Change: w.change, Impact: w.impact}, nil
}
