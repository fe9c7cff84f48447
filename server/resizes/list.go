package resizes

import (
	"context"
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/paging"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// defaultPage is the page size if the request does not set one.
const defaultPage = 500

// ListResizes implements workloadresizerv1.ResizeServiceServer.
func (s *Service) ListResizes(ctx context.Context, request *workloadresizerv1.ListResizesRequest) (*workloadresizerv1.ListResizesResponse, error) {
	size := int(request.GetPageSize())
	if size == 0 {
		size = defaultPage
	}
	view := s.config.Viewer.View(ctx)
	q := query.ResizeQuery{Namespace: request.GetNamespace(), Visible: view.Visible}
	var err error
	if q.Selector, err = translate.Selector(request.GetLabelSelector()); err != nil {
		return nil, err
	}
	if token := request.GetPageToken(); token != "" {
		if q.After, err = podOf(token); err != nil {
			return nil, rpcerror.BadField("page_token", "is invalid: "+err.Error())
		}
	}
	if err := access.MustSee(view, q.Namespace); err != nil {
		return nil, err
	}
	resizes, err := s.config.Reconciler.Resizes(ctx, q)
	if err != nil {
		return nil, translate.Error(err)
	}
	response, bytes := &workloadresizerv1.ListResizesResponse{}, 0
	var last types.NamespacedName
	for r, err := range resizes {
		switch {
		case ctx.Err() != nil:
			return nil, status.FromContextError(ctx.Err()).Err()
		case err != nil:
			return nil, err // From the view.
		}
		if !inState(r, request.GetStates()) {
			continue
		}
		m := message(r)
		bytes += proto.Size(m)
		if len(response.GetResizes()) == size || bytes > limits.AnswerBytes && len(response.GetResizes()) > 0 {
			response.NextPageToken = tokenOf(last)
			break
		}
		response.Resizes, last = append(response.Resizes, m), r.Pod
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
	return &workloadresizerv1.GetResizeResponse{Resize: message(r)}, nil
}

// tokenOf returns the page token that continues after a pod.
func tokenOf(last types.NamespacedName) string { return paging.Token(last.String()) }

func podOf(token string) (types.NamespacedName, error) {
	last, err := paging.Last(token)
	namespace, name, isPod := strings.Cut(last, string(types.Separator))
	if err == nil && (!isPod || namespace == "" || name == "") {
		err = paging.ErrToken
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, err
}
