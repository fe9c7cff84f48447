package holds

import (
	"context"
	"errors"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// mostReleased is the maximum number of ended holds that a response contains.
const mostReleased = 1000

// Resume implements workloadresizerv1.HoldServiceServer.
func (s *Service) Resume(ctx context.Context, request *workloadresizerv1.ResumeRequest) (*workloadresizerv1.ResumeResponse, error) {
	scope, err := scopeOf(request.GetScope())
	if err != nil {
		return nil, err
	}
	author, err := access.Author(ctx, request.GetAuthor())
	if err != nil {
		return nil, err
	}
	if err := faultsError(request.GetScope(), hold.TextFaults(request.GetReason(), author)); err != nil {
		return nil, err
	}
	view := s.config.Viewer.View(ctx)
	if err := access.MustSee(view, scope.Namespace); err != nil {
		return nil, err
	}
	ending := hold.Ending{Scope: scope, Workloads: s.workloads(scope), Kind: kinds[request.GetKind()], Nested: request.GetIncludeNested()}
	ended, reviewed, err := s.end(ctx, view, ending, request.GetValidateOnly())
	if err != nil {
		return nil, err
	}
	if len(ended.Holds) > 0 && !request.GetValidateOnly() {
		logEnded(ctx, author, request, ended.Holds)
		s.config.Journal.HoldsEnded(ended.Holds, author, request.GetReason())
	}
	released := reviewed.seen(ended.Holds)
	response := &workloadresizerv1.ResumeResponse{Released: messages(released[:min(len(released), mostReleased)]), Nested: int64(ended.Nested), Pods: s.count(scope)}
	if ended.Wider != nil {
		response.StillHeldBy = Message(*ended.Wider)
	}
	return response, nil
}

// end ends holds, or only checks that, and returns what was reviewed about them. All reviews
// precede the write, so that what is done can be reported, and no other write waits for them.
func (s *Service) end(ctx context.Context, view access.View, ending hold.Ending, validateOnly bool) (hold.Ended, reviewed, error) {
	var known reviewed
	would, err := s.config.Store.CheckRelease(ctx, ending)
	if err == nil {
		err = s.review(ctx, view, ending, would.Holds, &known)
		if err != nil || validateOnly {
			return would, known, err
		}
	}
	if validateOnly {
		return would, known, holdError(view, err)
	}
	for {
		var unreviewed []hold.Hold
		ending.Check = func(e hold.Ended) error {
			if !known.covers(e.Holds) {
				unreviewed = e.Holds
				return errUnreviewed
			}
			return nil
		}
		ended, err := s.config.Store.Release(ctx, ending)
		if !errors.Is(err, errUnreviewed) {
			return ended, known, holdError(view, err)
		}
		// The stored holds differ from those that were known. Every time, at least one
		// more namespace or kind is reviewed, so this ends.
		if err := s.review(ctx, view, ending, unreviewed, &known); err != nil {
			return hold.Ended{}, known, err
		}
	}
}

// errUnreviewed means that holds would end that the caller may not be allowed to end, or see.
var errUnreviewed = errors.New("not reviewed")

// reviewed is what is known about the holds that a caller wants to end.
type reviewed struct {
	// restores reports whether the caller may end restores.
	restores bool
	// visible reports whether the caller can see the holds of a namespace.
	visible map[string]bool
}

// review completes what is known with what these holds require. It returns an error if the
// caller must not end them.
func (s *Service) review(ctx context.Context, view access.View, ending hold.Ending, holds []hold.Hold, known *reviewed) error {
	if !known.restores && slices.ContainsFunc(holds, isRestore) {
		if err := s.mayEndRestores(ctx, ending); err != nil {
			return err
		}
		known.restores = true
	}
	visible, err := visibleOf(view, holds)
	if known.visible == nil {
		known.visible = map[string]bool{}
	}
	maps.Copy(known.visible, visible)
	return err
}

// covers reports whether the review included everything that these holds require.
func (r *reviewed) covers(holds []hold.Hold) bool {
	return !slices.ContainsFunc(holds, func(h hold.Hold) bool {
		_, known := r.visible[h.Scope.Namespace]
		return !known || isRestore(h) && !r.restores
	})
}

// seen returns the holds that the caller can see.
func (r *reviewed) seen(holds []hold.Hold) []hold.Hold {
	return slices.DeleteFunc(slices.Clone(holds), func(h hold.Hold) bool { return !r.visible[h.Scope.Namespace] })
}

func isRestore(h hold.Hold) bool { return h.Kind == hold.Restore }

// mayEndRestores returns an error if the caller does not have the right to end restores. If
// the request names a kind, the right was checked before.
func (s *Service) mayEndRestores(ctx context.Context, ending hold.Ending) error {
	if ending.Kind != "" {
		return nil
	}
	err := s.config.Rights.Require(ctx, access.EndRestores, ending.Scope.Namespace)
	if status.Code(err) == codes.PermissionDenied {
		return rpcerror.New(rpcerror.NotAuthorized, status.Convert(err).Message()+"; to end only pauses, set kind PAUSE (--kind pause)")
	}
	return err
}
