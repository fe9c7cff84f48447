package holds

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// table returns the table in effect, or an error if there is none.
func (s *Service) table() (*hold.Table, error) {
	table, err := s.config.Store.Ready()
	if err != nil {
		return nil, rpcerror.NotReady(rpcerror.HoldsNotReady, err)
	}
	return table, nil
}

// ListHolds implements workloadresizerv1.PauseServiceServer.
func (s *Service) ListHolds(ctx context.Context, request *workloadresizerv1.ListHoldsRequest) (*workloadresizerv1.ListHoldsResponse, error) {
	view, namespace := s.config.Viewer.View(ctx), request.GetNamespace()
	if err := access.MustSee(view, namespace); err != nil {
		return nil, err
	}
	table, err := s.table()
	if err != nil {
		return nil, err
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
		response.Problem = err.Error()
	}
	return response, nil
}

// seen returns the holds that the caller can see: the holds of the cluster and of
// namespaces whose pods it can see.
func seen(view access.View, all []hold.Hold) ([]hold.Hold, error) {
	namespaces := sets.New[string]()
	for _, h := range all {
		if h.Scope.Namespace != "" {
			namespaces.Insert(h.Scope.Namespace)
		}
	}
	visible, err := view.Visible(sets.List(namespaces)...)
	if err != nil {
		return nil, err
	}
	seen := sets.New(visible...).Insert("")
	return slices.DeleteFunc(slices.Clone(all), func(h hold.Hold) bool { return !seen.Has(h.Scope.Namespace) }), nil
}
