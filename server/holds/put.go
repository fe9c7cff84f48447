package holds

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// Restore implements workloadresizerv1.HoldServiceServer.
func (s *Service) Restore(ctx context.Context, request *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	h, err := s.put(ctx, hold.Hold{Kind: hold.Restore, Emergency: request.GetEmergency()}, request)
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.RestoreResponse{Hold: Message(h), Pods: s.count(h.Scope)}, nil
}

// Pause implements workloadresizerv1.HoldServiceServer.
func (s *Service) Pause(ctx context.Context, request *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	h, err := s.put(ctx, hold.Hold{Kind: hold.Pause}, request)
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.PauseResponse{Hold: Message(h), Pods: s.count(h.Scope)}
	if table, err := s.config.Store.Ready(); err == nil {
		if over, ok := table.Over(h.Scope, s.workloads(h.Scope)...); ok {
			response.OverruledBy = Message(over)
		}
	}
	return response, nil
}

// putRequest has the fields that requests for holds of all kinds share.
type putRequest interface {
	proto.Message
	GetScope() *workloadresizerv1.HoldScope
	GetReason() string
	GetAuthor() string
	GetTtl() *durationpb.Duration
	GetValidateOnly() bool
	GetRequestId() string
}

// put completes a hold of a kind with what the request says, and stores it.
func (s *Service) put(ctx context.Context, h hold.Hold, request putRequest) (hold.Hold, error) {
	scope, err := scopeOf(request.GetScope())
	if err != nil {
		return hold.Hold{}, err
	}
	// Checked first, so that the response does not reveal whether the pod exists.
	view := s.config.Viewer.View(ctx)
	if err := access.MustSee(view, scope.Namespace); err != nil {
		return hold.Hold{}, err
	}
	author, err := access.Author(ctx, request.GetAuthor())
	if err != nil {
		return hold.Hold{}, err
	}
	h.Scope, h.Reason, h.Author, h.CredentialID = scope, request.GetReason(), author, access.Credential(ctx)
	h.RequestID, h.RequestDigest = request.GetRequestId(), translate.RequestDigest(request, author)
	h.Since = time.Now().UTC().Truncate(time.Second)
	if ttl := request.GetTtl(); ttl != nil {
		h.Expires = h.Since.Add(ttl.AsDuration())
	}
	if scope.Pod != "" {
		if h.Scope.UID, err = s.config.Pods.UID(types.NamespacedName{Namespace: scope.Namespace, Name: scope.Pod}); err != nil {
			return hold.Hold{}, translate.Error(err)
		}
	}
	if err := faultsError(request.GetScope(), h.Faults()); err != nil {
		return hold.Hold{}, err
	}
	put := s.config.Store.Put
	if request.GetValidateOnly() {
		put = s.config.Store.CheckPut
	}
	if h, err = put(ctx, h); err != nil {
		return hold.Hold{}, putError(view, request.GetScope(), err)
	}
	if !request.GetValidateOnly() {
		logStored(ctx, h)
	}
	return h, nil
}

// count returns the number of pods that are in the scope now, nil while it is not known.
func (s *Service) count(scope hold.Scope) *int64 {
	n, err := s.config.Pods.Count(scope.Namespace)
	if scope.Workload != (workload.Workload{}) {
		n, err = s.config.Pods.CountOf(scope.Namespace, scope.Workload)
	}
	if err != nil {
		return nil
	}
	if scope.Pod != "" {
		// Only one pod can have the name.
		n = 1
		if _, err := s.config.Pods.UID(types.NamespacedName{Namespace: scope.Namespace, Name: scope.Pod}); err != nil {
			n = 0
		}
	}
	pods := int64(n)
	return &pods
}

// workloads returns the workloads of the pod if the scope is a pod; nil for other scopes.
func (s *Service) workloads(scope hold.Scope) []workload.Workload {
	if scope.Pod == "" {
		return nil
	}
	return s.config.Pods.Workloads(types.NamespacedName{Namespace: scope.Namespace, Name: scope.Pod})
}
