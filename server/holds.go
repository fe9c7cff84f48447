package server

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// pods knows the pods that there are now. Its errors are those of a preview.
type pods interface {
	UID(types.NamespacedName) (types.UID, error)
	// Count counts those of a namespace, of all if it is empty.
	Count(namespace string) (int, error)
}

type holdService struct {
	workloadresizerv1.UnimplementedHoldServiceServer
	store *hold.Store
	pods  pods
}

func (s *holdService) Restore(ctx context.Context, request *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	h, err := s.put(ctx, hold.Restore, request)
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.RestoreResponse{Hold: holdMessage(h), Pods: s.count(h.Scope)}, nil
}

func (s *holdService) Pause(ctx context.Context, request *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	h, err := s.put(ctx, hold.Pause, request)
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.PauseResponse{Hold: holdMessage(h), Pods: s.count(h.Scope)}
	if table, err := s.store.Ready(); err == nil {
		if over, ok := table.Over(h.Scope); ok {
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

func (s *holdService) put(ctx context.Context, kind hold.Kind, request holdRequest) (hold.Hold, error) {
	scope, err := holdScope(request.GetScope())
	if err != nil {
		return hold.Hold{}, err
	}
	h := hold.Hold{Kind: kind, Scope: scope, Reason: request.GetReason(), Author: request.GetAuthor(), Since: time.Now().UTC().Truncate(time.Second)}
	if ttl := request.GetTtl(); ttl != nil {
		if ttl.CheckValid() != nil || ttl.AsDuration() < time.Second {
			return hold.Hold{}, badField("ttl", "must be at least a second; leave it out for no end")
		}
		h.Expires = h.Since.Add(ttl.AsDuration())
	}
	if scope.Pod != "" {
		if h.Scope.UID, err = s.pods.UID(types.NamespacedName{Namespace: scope.Namespace, Name: scope.Pod}); err != nil {
			return hold.Hold{}, planError(err)
		}
	}
	if err := holdFaults(h.Faults()); err != nil {
		return hold.Hold{}, err
	}
	put := s.store.Put
	if request.GetValidateOnly() {
		put = s.store.CheckPut
	}
	h, err = put(ctx, h)
	return h, holdError(err)
}

// count counts the pods that the scope has now, nil while that is not known.
func (s *holdService) count(scope hold.Scope) *int64 {
	n, err := s.pods.Count(scope.Namespace)
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

func (s *holdService) Resume(ctx context.Context, request *workloadresizerv1.ResumeRequest) (*workloadresizerv1.ResumeResponse, error) {
	scope, err := holdScope(request.GetScope())
	if err != nil {
		return nil, err
	}
	kind, err := holdKind(request.GetKind())
	if err != nil {
		return nil, err
	}
	release := s.store.Release
	if request.GetValidateOnly() {
		release = s.store.CheckRelease
	}
	ended, err := release(ctx, hold.Ending{Scope: scope, Kind: kind, Nested: request.GetIncludeNested()})
	if err != nil {
		return nil, holdError(err)
	}
	response := &workloadresizerv1.ResumeResponse{Released: holdMessages(ended.Holds), Nested: int64(ended.Nested), Pods: s.count(scope)}
	if ended.Wider != nil {
		response.StillHeldBy = holdMessage(*ended.Wider)
	}
	return response, nil
}

// table returns the table in force, or the error that there is none.
func (s *holdService) table() (*hold.Table, error) {
	table, err := s.store.Ready()
	if err != nil {
		return nil, statusError(codes.Unavailable, reasonHoldsNotReady, "not ready: "+err.Error())
	}
	return table, nil
}

func (s *holdService) ListHolds(context.Context, *workloadresizerv1.ListHoldsRequest) (*workloadresizerv1.ListHoldsResponse, error) {
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListHoldsResponse{Holds: holdMessages(table.All())}
	if err := s.store.Err(); err != nil {
		response.Problem = err.Error()
	}
	return response, nil
}
