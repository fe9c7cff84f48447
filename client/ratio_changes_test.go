package client

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// changingRatio is a server with the ratio of n4. Another caller changes the ratio right
// after it is read, as many times as others says.
type changingRatio struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	others  int
	etag    int
	asked   []*workloadresizerv1.UpdateRatioRequest
	deleted *workloadresizerv1.DeleteRatioRequest
	fail    error
}

func (s *changingRatio) dial(t *testing.T) *Client {
	return dialServices(t, func(server *grpc.Server) { workloadresizerv1.RegisterRatioServiceServer(server, s) })
}

func (s *changingRatio) GetRatio(_ context.Context, req *workloadresizerv1.GetRatioRequest) (*workloadresizerv1.GetRatioResponse, error) {
	if req.GetNodeType() != "n4" {
		return nil, reasoned(codes.NotFound, "NODE_TYPE_UNKNOWN")
	}
	etag := strconv.Itoa(s.etag)
	if s.others > 0 {
		s.others--
		s.etag++
	}
	return &workloadresizerv1.GetRatioResponse{Ratio: &workloadresizerv1.Ratio{NodeType: "n4", CpuPerf: 1.25, MemoryPerf: 1, Etag: etag}}, nil
}

func (s *changingRatio) UpdateRatio(_ context.Context, req *workloadresizerv1.UpdateRatioRequest) (*workloadresizerv1.UpdateRatioResponse, error) {
	s.asked = append(s.asked, req)
	if etag := req.GetRatio().GetEtag(); etag != "" && etag != strconv.Itoa(s.etag) {
		return nil, reasoned(codes.Aborted, "ETAG_MISMATCH")
	}
	return &workloadresizerv1.UpdateRatioResponse{Ratio: req.GetRatio()}, s.fail
}

func (s *changingRatio) DeleteRatio(_ context.Context, req *workloadresizerv1.DeleteRatioRequest) (*workloadresizerv1.DeleteRatioResponse, error) {
	s.deleted = req
	return &workloadresizerv1.DeleteRatioResponse{}, s.fail
}

func TestRatioChanges(t *testing.T) {
	t.Run("sets and deletes a ratio", setsAndDeletesARatio)
}

func setsAndDeletesARatio(t *testing.T) {
	server := &changingRatio{}
	c := server.dial(t)
	until := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	if _, err := c.SetRatio(t.Context(), "n4", 1.3, 0, Because("measured"), By("ann"), AllowMissing(), AllowImplausible(), ValidateOnly(), Until(until), IfEtag("0")); err != nil {
		t.Fatal(err)
	}
	want := &workloadresizerv1.UpdateRatioRequest{
		Ratio:  &workloadresizerv1.Ratio{NodeType: "n4", CpuPerf: 1.3, ExpireTime: timestamppb.New(until), Etag: "0"},
		Reason: "measured", Author: "ann", AllowMissing: true, AllowImplausible: true, ValidateOnly: true,
	}
	if diff := cmp.Diff(want, server.asked[0], protocmp.Transform()); diff != "" {
		t.Errorf("wrong update (-want +got):\n%s", diff)
	}
	if _, err := c.DeleteRatio(t.Context(), "n4", Because("old"), By("ben"), AllowMissing(), AllowImplausible(), ValidateOnly(), IfEtag("7")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&workloadresizerv1.DeleteRatioRequest{NodeType: "n4", Etag: "7", Reason: "old", Author: "ben", AllowMissing: true, AllowImplausible: true, ValidateOnly: true},
		server.deleted, protocmp.Transform()); diff != "" {
		t.Errorf("wrong deletion (-want +got):\n%s", diff)
	}
}

func TestUpdateRatioFunc(t *testing.T) {
	lost := status.Error(codes.Unavailable, "the answer is lost")
	unwilling := errors.New("it is right as it is")
	faster := func(r *workloadresizerv1.Ratio) error { r.CpuPerf++; return nil }
	for _, tc := range []struct {
		name     string
		server   changingRatio
		nodeType string
		modify   func(*workloadresizerv1.Ratio) error
		opts     []ChangeOption
		writes   int
		code     codes.Code
	}{
		{"writes the changed ratio", changingRatio{}, "n4", faster, nil, 1, codes.OK},
		{"starts over if another caller was faster", changingRatio{others: 2}, "n4", faster, nil, 3, codes.OK},
		{"gives up after a few tries", changingRatio{others: 100}, "n4", faster, nil, 5, codes.Aborted},
		{"does not retry a write that may have succeeded", changingRatio{fail: lost}, "n4", faster, nil, 1, codes.Unavailable},
		{"writes nothing if nothing changes", changingRatio{}, "n4", func(*workloadresizerv1.Ratio) error { return nil }, nil, 0, codes.OK},
		{"writes nothing after an error", changingRatio{}, "n4", func(*workloadresizerv1.Ratio) error { return unwilling }, nil, 0, codes.Unknown},
		{"fails for an unknown node type", changingRatio{}, "c3", faster, nil, 0, codes.NotFound},
		{"adds an unknown node type with AllowMissing", changingRatio{}, "c3", faster, []ChangeOption{AllowMissing()}, 1, codes.OK},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.server.dial(t).UpdateRatioFunc(t.Context(), tc.nodeType, tc.modify, tc.opts...)
			if status.Code(err) != tc.code || len(tc.server.asked) != tc.writes {
				t.Fatalf("%v after %d writes; want %v after %d", err, len(tc.server.asked), tc.code, tc.writes)
			}
			for _, asked := range tc.server.asked {
				if diff := cmp.Diff(&fieldmaskpb.FieldMask{Paths: []string{"cpu_perf"}}, asked.GetUpdateMask(), protocmp.Transform()); diff != "" {
					t.Errorf("wrong field mask (-want +got):\n%s", diff)
				}
			}
		})
	}
}
