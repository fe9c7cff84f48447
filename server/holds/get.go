package holds

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// GetHold implements workloadresizerv1.HoldServiceServer.
func (s *Service) GetHold(ctx context.Context, request *workloadresizerv1.GetHoldRequest) (*workloadresizerv1.GetHoldResponse, error) {
	scope, err := scopeOf(request.GetScope())
	if err != nil {
		return nil, err
	}
	view := s.config.Viewer.View(ctx)
	if err := access.MustSee(view, scope.Namespace); err != nil {
		return nil, err
	}
	table, err := s.config.Store.Ready()
	if err != nil {
		return nil, rpcerror.NotReady(rpcerror.HoldsNotReady, translate.HoldsError(view, err))
	}
	kind := kinds[request.GetKind()]
	h, ok := s.named(table.All(), scope, kind)
	if !ok {
		what := strings.ToLower(string(kind))
		return nil, rpcerror.NotFound(rpcerror.HoldNotFound, what, scope.String(), fmt.Sprintf("there is no %s of %s", what, scope))
	}
	progress, err := s.progress(ctx, h)
	if err != nil {
		return nil, err
	}
	return &workloadresizerv1.GetHoldResponse{Hold: Message(h), Progress: progress}, nil
}

// named returns the hold of a scope without a UID. Of the holds of pods with the same name, it
// prefers the hold of the pod that exists.
func (s *Service) named(all []hold.Hold, scope hold.Scope, kind hold.Kind) (found hold.Hold, ok bool) {
	var present types.UID
	if scope.Pod != "" {
		present, _ = s.config.Pods.UID(types.NamespacedName{Namespace: scope.Namespace, Name: scope.Pod})
	}
	for _, h := range all {
		named := h.Scope
		named.UID = ""
		if h.Kind == kind && named == scope && (!ok || h.Scope.UID == present) {
			found, ok = h, true
		}
	}
	return found, ok
}

// progress returns how far a hold has taken effect. It takes a slot while it counts many pods.
func (s *Service) progress(ctx context.Context, h hold.Hold) (*workloadresizerv1.HoldProgress, error) {
	if h.Scope.Pod == "" {
		release, err := s.config.Slots.Take(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	count := s.config.Pods.PauseProgress
	if h.Kind == hold.Restore {
		count = s.config.Pods.RestoreProgress
	}
	p, err := count(ctx, query.Selection{Namespace: h.Scope.Namespace, Pod: h.Scope.Pod, Workload: h.Scope.Workload}, h.Scope.UID)
	if err != nil {
		return nil, translate.Error(err)
	}
	m := &workloadresizerv1.HoldProgress{Pods: int64(p.Pods), Done: int64(p.Done), Pending: int64(p.Pending), Blocked: int64(p.Blocked)}
	for reason, pods := range p.Reasons {
		if m.Codes == nil {
			m.Codes = map[string]int64{}
		}
		m.Codes[string(reason)] = int64(pods)
	}
	return m, nil
}
