package cmdtest

import (
	"context"
	"errors"
	"io"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// ResizingScript has the scripted server's responses about resizes, manifests and itself.
type ResizingScript struct {
	// Refused are the errors of methods, by name, for a caller who may not call all of
	// them.
	Refused map[string]error
	// OnRefusal, if set, is called before a call fails because of Refused.
	OnRefusal func()
	// Plans answers PreviewPlans instead of the plans of the server.
	Plans func(*workloadresizerv1.PreviewPlansRequest) []*workloadresizerv1.PreviewPlansResponse
	// Resizes are listed in pages of two.
	Resizes  []*workloadresizerv1.Resize
	Manifest *workloadresizerv1.PreviewManifestResponse
	Status   *workloadresizerv1.GetStatusResponse
	Watches  Streams[*workloadresizerv1.WatchResizesResponse]
}

func (r *ResizingScript) refuse(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := r.Refused[path.Base(info.FullMethod)]; err != nil {
		if r.OnRefusal != nil {
			r.OnRefusal()
		}
		return nil, err
	}
	return handler(ctx, req)
}

func (r *ResizingScript) sendPlans(req *workloadresizerv1.PreviewPlansRequest, stream planSender) error {
	for _, message := range r.Plans(req) {
		if err := stream.Send(message); err != nil {
			return err
		}
	}
	return nil
}

// ListResizes implements workloadresizerv1.ResizeServiceServer.
func (s *Server) ListResizes(ctx context.Context, req *workloadresizerv1.ListResizesRequest) (*workloadresizerv1.ListResizesResponse, error) {
	s.note(proto.Clone(req))
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	if req.GetPageToken() == "" && len(s.Resizing.Resizes) > 2 {
		return &workloadresizerv1.ListResizesResponse{Resizes: s.Resizing.Resizes[:2], NextPageToken: "2"}, nil
	}
	if req.GetPageToken() == "2" {
		return &workloadresizerv1.ListResizesResponse{Resizes: s.Resizing.Resizes[2:]}, nil
	}
	return &workloadresizerv1.ListResizesResponse{Resizes: s.Resizing.Resizes}, nil
}

// GetResize implements workloadresizerv1.ResizeServiceServer.
func (s *Server) GetResize(ctx context.Context, req *workloadresizerv1.GetResizeRequest) (*workloadresizerv1.GetResizeResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	for _, resize := range s.Resizing.Resizes {
		if resize.GetPod() == req.GetPod() {
			return &workloadresizerv1.GetResizeResponse{Resize: resize}, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "there is no pod %s/%s", req.GetNamespace(), req.GetPod())
}

// WatchResizes implements workloadresizerv1.ResizeServiceServer.
func (s *Server) WatchResizes(req *workloadresizerv1.WatchResizesRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchResizesResponse]) error {
	s.note(req)
	if err := s.end(stream.Context()); err != nil {
		return err
	}
	return s.Resizing.Watches.serve(stream.Context(), req.GetResumeToken(), stream.Send)
}

// GetStatus implements workloadresizerv1.StatusServiceServer.
func (s *Server) GetStatus(ctx context.Context, req *workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return s.Resizing.Status, nil
}

// PreviewManifest implements workloadresizerv1.PlanServiceServer.
func (s *Server) PreviewManifest(stream grpc.ClientStreamingServer[workloadresizerv1.PreviewManifestRequest, workloadresizerv1.PreviewManifestResponse]) error {
	whole := &workloadresizerv1.PreviewManifestRequest{}
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		text := whole.GetManifest() + part.GetManifest()
		proto.Merge(whole, part)
		whole.Manifest = text
	}
	s.note(whole)
	if err := s.end(stream.Context()); err != nil {
		return err
	}
	return stream.SendAndClose(s.Resizing.Manifest)
}
