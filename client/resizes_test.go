package client

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// pagedResizes has four resizes in pages of two, and fails at the page failAt.
type pagedResizes struct {
	workloadresizerv1.UnimplementedResizeServiceServer
	workloadresizerv1.UnimplementedStatusServiceServer
	failAt string
	pages  int
}

func (s *pagedResizes) ListResizes(_ context.Context, req *workloadresizerv1.ListResizesRequest) (*workloadresizerv1.ListResizesResponse, error) {
	s.pages++
	if s.failAt != "" && req.GetPageToken() == s.failAt {
		return nil, status.Error(codes.InvalidArgument, "no such page")
	}
	from, _ := strconv.Atoi(req.GetPageToken())
	resp := &workloadresizerv1.ListResizesResponse{}
	for i := from; i < from+2; i++ {
		resp.Resizes = append(resp.Resizes, &workloadresizerv1.Resize{Namespace: req.GetNamespace(), Pod: "pod-" + strconv.Itoa(i)})
	}
	if from+2 < 4 {
		resp.NextPageToken = strconv.Itoa(from + 2)
	}
	return resp, nil
}

func (s *pagedResizes) GetResize(_ context.Context, req *workloadresizerv1.GetResizeRequest) (*workloadresizerv1.GetResizeResponse, error) {
	if req.GetPod() != "web" {
		return nil, reasoned(codes.NotFound, "NOT_RESIZED")
	}
	return &workloadresizerv1.GetResizeResponse{Resize: &workloadresizerv1.Resize{Namespace: req.GetNamespace(), Pod: req.GetPod()}}, nil
}

func (s *pagedResizes) GetStatus(context.Context, *workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error) {
	return &workloadresizerv1.GetStatusResponse{Replica: "one"}, nil
}

func TestListResizes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		failAt string
		stopAt string
		want   []string
		pages  int
		code   codes.Code
	}{
		{"yields all pages, one after the other", "", "", []string{"shop/pod-0", "shop/pod-1", "shop/pod-2", "shop/pod-3"}, 2, codes.OK},
		{"yields an error last", "2", "", []string{"shop/pod-0", "shop/pod-1"}, 2, codes.InvalidArgument},
		{"requests no page that is not needed", "", "shop/pod-1", []string{"shop/pod-0", "shop/pod-1"}, 1, codes.OK},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &pagedResizes{failAt: tc.failAt}
			c := dialServices(t, func(s *grpc.Server) { workloadresizerv1.RegisterResizeServiceServer(s, server) })
			request := &workloadresizerv1.ListResizesRequest{Namespace: "shop"}
			var got []string
			var ended error
			for resize, err := range c.ListResizes(t.Context(), request) {
				if ended = err; err != nil {
					continue
				}
				got = append(got, resize.GetNamespace()+"/"+resize.GetPod())
				if got[len(got)-1] == tc.stopAt {
					break
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || status.Code(ended) != tc.code || server.pages != tc.pages {
				t.Errorf("%d pages, want %d; %v, want %v; (-want +got):\n%s", server.pages, tc.pages, ended, tc.code, diff)
			}
			if request.GetPageToken() != "" {
				t.Error("changed the caller's request")
			}
		})
	}
}

func TestResizes(t *testing.T) {
	t.Run("returns a resize and the status", returnsAResizeAndTheStatus)
	t.Run("resumes a watch from the token in its request, or in its options", resumesFromTheTokenInTheRequest)
}

func returnsAResizeAndTheStatus(t *testing.T) {
	c := dialServices(t, func(s *grpc.Server) {
		workloadresizerv1.RegisterResizeServiceServer(s, &pagedResizes{})
		workloadresizerv1.RegisterStatusServiceServer(s, &pagedResizes{})
	})
	if got, err := c.GetResize(t.Context(), "shop", "web"); err != nil || got.GetNamespace() != "shop" || got.GetPod() != "web" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := c.GetResize(t.Context(), "shop", "other"); Reason(err) != "NOT_RESIZED" {
		t.Errorf("got %v", err)
	}
	if got, err := c.Status(t.Context()); err != nil || got.GetReplica() != "one" {
		t.Errorf("got %v, %v", got, err)
	}
}

func resumesFromTheTokenInTheRequest(t *testing.T) {
	for want, opts := range map[string][]WatchOption{"a": nil, "b": {ResumeFrom("b")}} {
		s := newWatchServer(t, turn{token: want, sends: []string{"c"}})
		for event, err := range s.dial().WatchResizes(t.Context(), &workloadresizerv1.WatchResizesRequest{ResumeToken: "a"}, opts...) {
			if err != nil || event.ResumeToken != "c" {
				t.Errorf("got %v, %v", event, err)
			}
			break
		}
	}
}
