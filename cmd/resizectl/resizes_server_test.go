package main

import (
	"context"
	"path"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// resizingScript is what the scripted server says of resizes, manifests and
// itself.
type resizingScript struct {
	// refused are the errors of methods, by name, for a caller who may not call them
	// all.
	refused map[string]error
	// plans answer PreviewPlans instead of those of the server.
	plans func(*workloadresizerv1.PreviewPlansRequest) []*workloadresizerv1.PreviewPlansResponse
	// resizes are listed a page of two at a time.
	resizes  []*workloadresizerv1.Resize
	manifest *workloadresizerv1.PreviewManifestResponse
	status   *workloadresizerv1.GetStatusResponse
	watches  scriptedStreams[*workloadresizerv1.WatchResizesResponse]
}

func (r *resizingScript) refuse(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := r.refused[path.Base(info.FullMethod)]; err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (r *resizingScript) sendPlans(req *workloadresizerv1.PreviewPlansRequest, stream planSender) error {
	for _, message := range r.plans(req) {
		if err := stream.Send(message); err != nil {
			return err
		}
	}
	return nil
}

func (s *scripted) ListResizes(ctx context.Context, req *workloadresizerv1.ListResizesRequest) (*workloadresizerv1.ListResizesResponse, error) {
	s.note(proto.Clone(req))
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	if req.GetPageToken() == "" && len(s.resizing.resizes) > 2 {
		return &workloadresizerv1.ListResizesResponse{Resizes: s.resizing.resizes[:2], NextPageToken: "2"}, nil
	}
	if req.GetPageToken() == "2" {
		return &workloadresizerv1.ListResizesResponse{Resizes: s.resizing.resizes[2:]}, nil
	}
	return &workloadresizerv1.ListResizesResponse{Resizes: s.resizing.resizes}, nil
}

func (s *scripted) GetResize(ctx context.Context, req *workloadresizerv1.GetResizeRequest) (*workloadresizerv1.GetResizeResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	for _, resize := range s.resizing.resizes {
		if resize.GetPod() == req.GetPod() {
			return &workloadresizerv1.GetResizeResponse{Resize: resize}, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "there is no pod %s/%s", req.GetNamespace(), req.GetPod())
}

func (s *scripted) WatchResizes(req *workloadresizerv1.WatchResizesRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchResizesResponse]) error {
	s.note(req)
	if err := s.end(stream.Context()); err != nil {
		return err
	}
	return s.resizing.watches.serve(stream.Context(), req.GetResumeToken(), stream.Send)
}

func (s *scripted) GetStatus(ctx context.Context, req *workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return s.resizing.status, nil
}

func (s *scripted) PreviewManifest(ctx context.Context, req *workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return s.resizing.manifest, nil
}

// sized is a pod that was sized for n4.
func sized(namespace, pod string, state workloadresizerv1.ResizeState, message string) *workloadresizerv1.Resize {
	return &workloadresizerv1.Resize{
		Namespace: namespace, Pod: pod, Uid: web().GetUid(), Node: "node-1", NodeType: "n4",
		Workload:  &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "api"},
		ApplyTime: timestamppb.New(since.Add(time.Minute)), State: state, Message: message,
		Containers: []*workloadresizerv1.ResizedContainer{{
			Name:     "api",
			Original: resources("500m", "256Mi", "500m", "256Mi"),
			Spec:     resources("400m", "320Mi", "400m", "320Mi"),
			Actual:   resources("500m", "256Mi", "500m", "256Mi"),
		}},
	}
}

// part is a pod of which only some resources were sized.
func part(namespace, pod string) *workloadresizerv1.Resize {
	resize := sized(namespace, pod, workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
	resize.NodeType, resize.ApplyTime = "", nil
	return resize
}

func resizes() []*workloadresizerv1.Resize {
	whole := sized("default", "api-0", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
	whole.Workload = nil
	whole.Containers[0].Actual = nil
	return []*workloadresizerv1.Resize{
		whole,
		sized("default", "api-1", workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED, "Node didn't have enough resource: memory"),
		sized("shop", "cart-0", workloadresizerv1.ResizeState_RESIZE_STATE_INFEASIBLE, "Node didn't have enough capacity: memory,\x1b[31m requested: 1"),
	}
}

func progressMessage(done, total int64) *workloadresizerv1.PreviewPlansResponse {
	return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Progress{Progress: &workloadresizerv1.PlanProgress{Done: done, Total: total}}}
}

func summaryMessage(summary *workloadresizerv1.PlanSummary) *workloadresizerv1.PreviewPlansResponse {
	return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Summary{Summary: summary}}
}
