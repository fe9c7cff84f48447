package server

import (
	"context"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

type resizeService struct {
	workloadresizerv1.UnimplementedResizeServiceServer
	holds
	reconciler *reconciler.Reconciler
	log        *resizeLog
	watches    *streams.Watches
	replica    replica
}

// defaultPage is how many resizes a page has at most where the request does not say.
const defaultPage = 500

func (s *resizeService) ListResizes(ctx context.Context, request *workloadresizerv1.ListResizesRequest) (*workloadresizerv1.ListResizesResponse, error) {
	size := int(request.GetPageSize())
	if size == 0 {
		size = defaultPage
	}
	view := s.viewer.View(ctx)
	query := reconciler.ResizeQuery{Namespace: request.GetNamespace(), Sees: view.Sees}
	var err error
	if query.Selector, err = labels.Parse(request.GetLabelSelector()); err != nil {
		return nil, rpcerror.BadField("label_selector", "cannot be: "+err.Error())
	}
	if token := request.GetPageToken(); token != "" {
		if query.After, err = parsePageToken(token); err != nil {
			return nil, rpcerror.BadField("page_token", "cannot be: "+err.Error())
		}
	}
	if err := access.MustSee(view, query.Namespace); err != nil {
		return nil, err
	}
	resizes, err := s.reconciler.Resizes(ctx, query)
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
			return nil, err // Of the view.
		}
		if !inState(r, request.GetStates()) {
			continue
		}
		m := resizeMessage(r)
		bytes += proto.Size(m)
		if len(response.GetResizes()) == size || bytes > limits.AnswerBytes && len(response.GetResizes()) > 0 {
			response.NextPageToken = pageToken(last)
			break
		}
		response.Resizes, last = append(response.Resizes, m), r.Pod
	}
	return response, nil
}

func (s *resizeService) GetResize(ctx context.Context, request *workloadresizerv1.GetResizeRequest) (*workloadresizerv1.GetResizeResponse, error) {
	name := types.NamespacedName{Namespace: request.GetNamespace(), Name: request.GetPod()}
	if err := access.MustSee(s.viewer.View(ctx), name.Namespace); err != nil {
		return nil, err
	}
	r, err := s.reconciler.ResizeOfPod(name)
	if err != nil {
		return nil, translate.Error(err)
	}
	return &workloadresizerv1.GetResizeResponse{Resize: resizeMessage(r)}, nil
}
