package resizes

import (
	"cmp"
	"context"
	"strings"

	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/paging"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// pageSizes are the numbers of resizes on a page.
var pageSizes = paging.Sizes{Default: 500, Max: 5000}

// ListResizes implements workloadresizerv1.ResizeServiceServer.
func (s *Service) ListResizes(ctx context.Context, request *workloadresizerv1.ListResizesRequest) (*workloadresizerv1.ListResizesResponse, error) {
	page, err := paging.Of(request, pageSizes)
	if err != nil {
		return nil, err
	}
	view := s.config.Viewer.View(ctx)
	q := query.ResizeQuery{Namespace: request.GetNamespace(), Visible: view.Visible, After: podOf(page.After)}
	if q.Selector, err = translate.Selector(request.GetLabelSelector()); err != nil {
		return nil, err
	}
	if err := access.MustSee(view, q.Namespace); err != nil {
		return nil, err
	}
	resizes, err := s.config.Reconciler.Resizes(ctx, q)
	if err != nil {
		return nil, translate.Error(err)
	}
	response := &workloadresizerv1.ListResizesResponse{}
	response.Resizes, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.Resize) bool) {
		for r, failed := range resizes {
			if err = cmp.Or(ctx.Err(), failed); err != nil {
				return
			}
			if inState(r, request.GetStates()) && !yield(r.Pod.String(), Message(r)) {
				return
			}
		}
	})
	switch {
	case ctx.Err() != nil:
		return nil, status.FromContextError(ctx.Err()).Err()
	case err != nil:
		return nil, err // From the view.
	}
	return response, nil
}

// GetResize implements workloadresizerv1.ResizeServiceServer.
func (s *Service) GetResize(ctx context.Context, request *workloadresizerv1.GetResizeRequest) (*workloadresizerv1.GetResizeResponse, error) {
	name := types.NamespacedName{Namespace: request.GetNamespace(), Name: request.GetPod()}
	if err := access.MustSee(s.config.Viewer.View(ctx), name.Namespace); err != nil {
		return nil, err
	}
	r, err := s.config.Reconciler.ResizeOfPod(name)
	if err != nil {
		return nil, translate.Error(err)
	}
	return &workloadresizerv1.GetResizeResponse{Resize: Message(r)}, nil
}

// podOf returns the pod with a name as in page tokens.
func podOf(text string) types.NamespacedName {
	namespace, name, _ := strings.Cut(text, string(types.Separator))
	return types.NamespacedName{Namespace: namespace, Name: name}
}
