package holds

import (
	"context"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Resume implements workloadresizerv1.PauseServiceServer.
func (s *Service) Resume(ctx context.Context, request *workloadresizerv1.ResumeRequest) (*workloadresizerv1.ResumeResponse, error) {
	scope, err := scopeOf(request.GetScope())
	if err != nil {
		return nil, err
	}
	if err := faultsError(hold.TextFaults(request.GetReason(), request.GetAuthor())); err != nil {
		return nil, err
	}
	view := s.config.Viewer.View(ctx)
	if err := access.MustSee(view, scope.Namespace); err != nil {
		return nil, err
	}
	release := s.config.Store.Release
	if request.GetValidateOnly() {
		release = s.config.Store.CheckRelease
	}
	var released []hold.Hold
	var refused error
	ended, err := release(ctx, hold.Ending{
		Scope: scope, Workloads: s.workloads(scope), Kind: kinds[request.GetKind()], Nested: request.GetIncludeNested(),
		// Both are checked before the write, so that what is done can be reported.
		Check: func(e hold.Ended) error {
			if refused = s.mayEnd(ctx, request.GetKind(), scope.Namespace, e.Holds); refused == nil {
				released, refused = seen(view, e.Holds)
			}
			return refused
		},
	})
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, storeError(err)
	}
	if len(ended.Holds) > 0 && !request.GetValidateOnly() {
		logEnded(ctx, request, ended.Holds)
	}
	response := &workloadresizerv1.ResumeResponse{Released: messages(released), Nested: int64(ended.Nested), Pods: s.count(scope)}
	if ended.Wider != nil {
		response.StillHeldBy = message(*ended.Wider)
	}
	return response, nil
}

// mayEnd returns an error if the caller does not have the right to end the holds. If the
// request names a kind, the right was checked before. If not, the right to end pauses is
// sufficient as long as no restore ends.
func (s *Service) mayEnd(ctx context.Context, kind workloadresizerv1.HoldKind, namespace string, holds []hold.Hold) error {
	isRestore := func(h hold.Hold) bool { return h.Kind == hold.Restore }
	if kind != workloadresizerv1.HoldKind_HOLD_KIND_UNSPECIFIED || !slices.ContainsFunc(holds, isRestore) {
		return nil
	}
	err := s.config.Rights.Require(ctx, access.EndRestores, namespace)
	if status.Code(err) == codes.PermissionDenied {
		return rpcerror.New(rpcerror.NotAuthorized, status.Convert(err).Message()+"; to end only pauses, set kind PAUSE (--kind pause)")
	}
	return err
}
