package holds

import (
	"context"
	"maps"
	"slices"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/paging"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// holdsSizes are the numbers of holds on a page.
var holdsSizes = paging.Sizes{Default: 500, Max: 1000}

// ListHolds implements workloadresizerv1.HoldServiceServer.
func (s *Service) ListHolds(ctx context.Context, request *workloadresizerv1.ListHoldsRequest) (*workloadresizerv1.ListHoldsResponse, error) {
	page, err := paging.Of(request, holdsSizes)
	if err != nil {
		return nil, err
	}
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
	slices.SortFunc(holds, func(a, b hold.Hold) int { return strings.Compare(placeOf(a), placeOf(b)) })
	response := &workloadresizerv1.ListHoldsResponse{Freeze: translate.Freeze(table.Freeze())}
	response.Holds, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.Hold) bool) {
		for _, h := range holds {
			if place := placeOf(h); place > page.After && !yield(place, Message(h)) {
				return
			}
		}
	})
	if err := s.config.Store.Err(); err != nil {
		response.Problem = translate.HoldsError(view, err).Error()
	}
	return response, nil
}

// placeOf returns the place of a hold in lists, which are ordered by it: the holds of the cluster
// come first, then the holds of each namespace, its pods and its workloads.
func placeOf(h hold.Hold) string {
	s := h.Scope
	return strings.Join([]string{s.Namespace, s.Workload.Kind, s.Workload.Name, s.Pod, string(s.UID), string(h.Kind)}, "\x00")
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
