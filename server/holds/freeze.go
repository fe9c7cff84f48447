package holds

import (
	"context"

	"k8s.io/klog/v2"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// Freeze implements workloadresizerv1.HoldServiceServer.
func (s *Service) Freeze(ctx context.Context, request *workloadresizerv1.FreezeRequest) (*workloadresizerv1.FreezeResponse, error) {
	author, err := access.Author(ctx, request.GetAuthor())
	if err != nil {
		return nil, err
	}
	freeze := hold.Freeze{Reason: request.GetReason(), Author: author, CredentialID: access.Credential(ctx)}
	if err := faultsError(nil, freeze.Faults()); err != nil {
		return nil, err
	}
	if request.GetValidateOnly() {
		freeze = s.config.Store.CheckFreeze(freeze)
		return &workloadresizerv1.FreezeResponse{Freeze: translate.Freeze(&freeze)}, nil
	}
	if freeze, err = s.config.Store.Freeze(ctx, freeze); err != nil {
		return nil, freezeError(err)
	}
	klog.FromContext(ctx).Info("Freeze stored", "caller", access.Described(ctx), "author", freeze.Author, "reason", freeze.Reason)
	return &workloadresizerv1.FreezeResponse{Freeze: translate.Freeze(&freeze)}, nil
}

// Unfreeze implements workloadresizerv1.HoldServiceServer.
func (s *Service) Unfreeze(ctx context.Context, request *workloadresizerv1.UnfreezeRequest) (*workloadresizerv1.UnfreezeResponse, error) {
	author, err := access.Author(ctx, request.GetAuthor())
	if err != nil {
		return nil, err
	}
	if err := faultsError(nil, hold.TextFaults(request.GetReason(), author)); err != nil {
		return nil, err
	}
	if request.GetValidateOnly() {
		ended, err := s.config.Store.Frozen()
		return &workloadresizerv1.UnfreezeResponse{Released: translate.Freeze(ended)}, freezeError(err)
	}
	ended, err := s.config.Store.Unfreeze(ctx)
	if err != nil {
		return nil, freezeError(err)
	}
	if ended != nil {
		klog.FromContext(ctx).Info("Freeze ended by a caller", "caller", access.Described(ctx), "author", author, "reason", request.GetReason())
		s.config.Journal.Unfrozen(*ended, author, request.GetReason())
	}
	return &workloadresizerv1.UnfreezeResponse{Released: translate.Freeze(ended)}, nil
}

// GetFreeze implements workloadresizerv1.HoldServiceServer. It reads the freeze from
// the API server: callers look before they freeze the cluster, so the answer must not be a freeze
// that has ended, or one that is only assumed.
func (s *Service) GetFreeze(ctx context.Context, _ *workloadresizerv1.GetFreezeRequest) (*workloadresizerv1.GetFreezeResponse, error) {
	freeze, err := s.config.Store.Look(ctx)
	if err != nil {
		return nil, freezeError(err)
	}
	return &workloadresizerv1.GetFreezeResponse{Freeze: translate.Freeze(freeze)}, nil
}
