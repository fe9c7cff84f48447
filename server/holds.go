package server

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// pods knows the pods that there are now. Its errors are those of a preview.
type pods interface {
	UID(types.NamespacedName) (types.UID, error)
	// Workloads are those of a pod, the narrowest first, as far as they are
	// known.
	Workloads(types.NamespacedName) []safety.Workload
	// Count counts those of a namespace, of all if it is empty.
	Count(namespace string) (int, error)
	// CountOf counts those of a workload.
	CountOf(namespace string, workload safety.Workload) (int, error)
}

// holds is what the services that keep holds have in common.
type holds struct {
	store  *hold.Store
	pods   pods
	viewer access.Viewer
	rights rights
}

// rights tells what callers may do; an access.Access does. The error is that they
// may not, or that it is not known.
type rights interface {
	Require(ctx context.Context, right access.Right, namespace string) error
}

type pauseService struct {
	workloadresizerv1.UnimplementedPauseServiceServer
	holds
}

// Restore is the one method of its service that stores a hold.
func (s *resizeService) Restore(ctx context.Context, request *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	h, err := s.put(ctx, hold.Restore, request)
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.RestoreResponse{Hold: holdMessage(h), Pods: s.count(h.Scope)}, nil
}

func (s *pauseService) Pause(ctx context.Context, request *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	h, err := s.put(ctx, hold.Pause, request)
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.PauseResponse{Hold: holdMessage(h), Pods: s.count(h.Scope)}
	if table, err := s.store.Ready(); err == nil {
		if over, ok := table.Over(h.Scope, s.workloads(h.Scope)...); ok {
			response.OverruledBy = holdMessage(over)
		}
	}
	return response, nil
}

// holdRequest is what requests for holds of any kind have.
type holdRequest interface {
	GetScope() *workloadresizerv1.HoldScope
	GetReason() string
	GetAuthor() string
	GetTtl() *durationpb.Duration
	GetValidateOnly() bool
}

func (s *holds) put(ctx context.Context, kind hold.Kind, request holdRequest) (hold.Hold, error) {
	scope, err := holdScope(request.GetScope())
	if err != nil {
		return hold.Hold{}, err
	}
	// Whether there is such a pod is not told either.
	if err := access.MustSee(s.viewer.View(ctx), scope.Namespace); err != nil {
		return hold.Hold{}, err
	}
	h := hold.Hold{Kind: kind, Scope: scope, Reason: request.GetReason(), Author: access.Author(ctx, request.GetAuthor()), Since: time.Now().UTC().Truncate(time.Second)}
	if ttl := request.GetTtl(); ttl != nil {
		h.Expires = h.Since.Add(ttl.AsDuration())
	}
	if scope.Pod != "" {
		if h.Scope.UID, err = s.pods.UID(types.NamespacedName{Namespace: scope.Namespace, Name: scope.Pod}); err != nil {
			return hold.Hold{}, translate.Error(err)
		}
	}
	if err := holdFaults(h.Faults()); err != nil {
		return hold.Hold{}, err
	}
	put := s.store.Put
	if request.GetValidateOnly() {
		put = s.store.CheckPut
	}
	if h, err = put(ctx, h); err != nil {
		return hold.Hold{}, holdError(err)
	}
	if !request.GetValidateOnly() {
		logStored(ctx, h)
	}
	return h, nil
}

// count counts the pods that the scope has now, nil while that is not known.
func (s *holds) count(scope hold.Scope) *int64 {
	n, err := s.pods.Count(scope.Namespace)
	if scope.Workload != (safety.Workload{}) {
		n, err = s.pods.CountOf(scope.Namespace, scope.Workload)
	}
	if err != nil {
		return nil
	}
	if scope.Pod != "" {
		// Only one pod has the name.
		n = 1
		if _, err := s.pods.UID(types.NamespacedName{Namespace: scope.Namespace, Name: scope.Pod}); err != nil {
			n = 0
		}
	}
	pods := int64(n)
	return &pods
}

// workloads are those of the pod that a scope is; none for other scopes.
func (s *holds) workloads(scope hold.Scope) []safety.Workload {
	if scope.Pod == "" {
		return nil
	}
	return s.pods.Workloads(types.NamespacedName{Namespace: scope.Namespace, Name: scope.Pod})
}
