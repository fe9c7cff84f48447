package holds

import (
	"context"
	"maps"
	"slices"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// ListHolds implements workloadresizerv1.PauseServiceServer.
func (s *Service) ListHolds(ctx context.Context, request *workloadresizerv1.ListHoldsRequest) (*workloadresizerv1.ListHoldsResponse, error) {
	view, namespace := s.config.Viewer.View(ctx), request.GetNamespace()
	if err := access.MustSee(view, namespace); err != nil {
		return nil, err
	}
	table, err := s.config.Store.Ready()
	if err != nil {
		return nil, rpcerror.NotReady(rpcerror.HoldsNotReady, translate.HoldsError(view, err))
	}
	elsewhere := func(h hold.Hold) bool {
		return namespace != "" && h.Scope.Namespace != "" && h.Scope.Namespace != namespace
	}
	holds, err := seen(view, slices.DeleteFunc(table.All(), elsewhere))
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListHoldsResponse{Holds: messages(holds), Freeze: translate.Freeze(table.Freeze())}
	if err := s.config.Store.Err(); err != nil {
		response.Problem = translate.HoldsError(view, err).Error()
	}
	return response, nil
}

// seen returns the holds that the caller can see.
func seen(view access.View, all []hold.Hold) ([]hold.Hold, error) {
	visible, err := visibleOf(view, all)
	return slices.DeleteFunc(slices.Clone(all), func(h hold.Hold) bool { return !visible[h.Scope.Namespace] }), err
}

// visibleOf reports whether the caller can see the holds of each namespace that the holds
// name: it must be able to see its pods. Holds of the cluster, whose namespace is empty, are
// visible to everybody.
func visibleOf(view access.View, holds []hold.Hold) (map[string]bool, error) {
	visible := map[string]bool{}
	for _, h := range holds {
		visible[h.Scope.Namespace] = h.Scope.Namespace == ""
	}
	named := slices.DeleteFunc(slices.Sorted(maps.Keys(visible)), func(namespace string) bool { return namespace == "" })
	sees, err := view.Visible(named...)
	if err != nil {
		return nil, err
	}
	for _, namespace := range sees {
		visible[namespace] = true
	}
	return visible, nil
}
