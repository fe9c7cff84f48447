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
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// changingRatio is a server with the ratio of n4. Another caller changes the ratio right
// after it is read, as many times as others says.
type changingRatio struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	workloadresizerv1.UnimplementedOverrideServiceServer
	others  int
	etag    int
	asked   []*workloadresizerv1.UpdateOverrideRequest
	deleted *workloadresizerv1.DeleteOverrideRequest
	fail    error
}

func (s *changingRatio) dial(t *testing.T) *Client {
	return dialServices(t, func(server *grpc.Server) {
		workloadresizerv1.RegisterRatioServiceServer(server, s)
		workloadresizerv1.RegisterOverrideServiceServer(server, s)
	})
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

func (s *changingRatio) UpdateOverride(_ context.Context, req *workloadresizerv1.UpdateOverrideRequest) (*workloadresizerv1.UpdateOverrideResponse, error) {
	s.asked = append(s.asked, req)
	now := strconv.Itoa(s.etag)
	if req.GetOverride().GetNodeType() != "n4" {
		now = NoEtag
	}
	if etag := req.GetRatioEtag(); etag != "" && etag != now {
		return nil, reasoned(codes.Aborted, "ETAG_MISMATCH")
	}
	return &workloadresizerv1.UpdateOverrideResponse{Override: req.GetOverride()}, s.fail
}

func (s *changingRatio) DeleteOverride(_ context.Context, req *workloadresizerv1.DeleteOverrideRequest) (*workloadresizerv1.DeleteOverrideResponse, error) {
	s.deleted = req
	return &workloadresizerv1.DeleteOverrideResponse{}, s.fail
}

// ListOverrides has two pages.
func (s *changingRatio) ListOverrides(_ context.Context, req *workloadresizerv1.ListOverridesRequest) (*workloadresizerv1.ListOverridesResponse, error) {
	if req.GetPageToken() == "" {
		return &workloadresizerv1.ListOverridesResponse{Overrides: []*workloadresizerv1.Override{{NodeType: "c3"}}, NextPageToken: "c3"}, s.fail
	}
	return &workloadresizerv1.ListOverridesResponse{Overrides: []*workloadresizerv1.Override{{NodeType: "n4"}}}, s.fail
}

// ListOverrideChanges has two pages.
func (s *changingRatio) ListOverrideChanges(_ context.Context, req *workloadresizerv1.ListOverrideChangesRequest) (*workloadresizerv1.ListOverrideChangesResponse, error) {
	change := &workloadresizerv1.OverrideChange{Author: req.GetNodeType()}
	if req.GetPageToken() == "" {
		return &workloadresizerv1.ListOverrideChangesResponse{Changes: []*workloadresizerv1.OverrideChange{change, change}, NextPageToken: "1"}, s.fail
	}
	return &workloadresizerv1.ListOverrideChangesResponse{Changes: []*workloadresizerv1.OverrideChange{change}}, s.fail
}

// withoutRequestID compares requests without their request_id, which is random.
var withoutRequestID = protocmp.IgnoreFields(&workloadresizerv1.UpdateOverrideRequest{}, "request_id")

func TestOverrides(t *testing.T) {
	t.Run("sets and deletes an override", setsAndDeletesAnOverride)
	t.Run("lists all overrides and changes", listsAllOverridesAndChanges)
	t.Run("retries a write with the same request_id", retriesAWriteWithTheSameRequestID)
}

func setsAndDeletesAnOverride(t *testing.T) {
	server := &changingRatio{}
	c := server.dial(t)
	until := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	if _, err := c.SetOverride(t.Context(), "n4", 1.3, 0, Because("measured"), AllowNewNodeType(), AllowImplausible(), ValidateOnly(), Until(until), IfEtag("7"), IfRatioEtag("0")); err != nil {
		t.Fatal(err)
	}
	want := &workloadresizerv1.UpdateOverrideRequest{
		Override: &workloadresizerv1.Override{NodeType: "n4", CpuPerf: proto.Float64(1.3), ExpireTime: timestamppb.New(until), Etag: "7"}, RatioEtag: "0",
		Reason: "measured", AllowMissing: true, AllowNewNodeType: true, AllowImplausible: true, ValidateOnly: true,
	}
	if diff := cmp.Diff(want, server.asked[0], protocmp.Transform(), withoutRequestID); diff != "" {
		t.Errorf("wrong update (-want +got):\n%s", diff)
	}
	if _, err := c.DeleteOverride(t.Context(), "n4", Because("old"), AllowMissing(), AllowImplausible(), ValidateOnly(), IfEtag("7"), IfRatioEtag("0")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", Etag: "7", RatioEtag: "0", Reason: "old", AllowMissing: true, AllowImplausible: true, ValidateOnly: true},
		server.deleted, protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.DeleteOverrideRequest{}, "request_id")); diff != "" {
		t.Errorf("wrong deletion (-want +got):\n%s", diff)
	}
}

func listsAllOverridesAndChanges(t *testing.T) {
	c := (&changingRatio{}).dial(t)
	var got []string
	for override, err := range c.ListOverrides(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, override.GetNodeType())
	}
	for change, err := range c.ListOverrideChanges(t.Context(), &workloadresizerv1.ListOverrideChangesRequest{NodeType: "n4"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, "changed: "+change.GetAuthor())
	}
	if diff := cmp.Diff([]string{"c3", "n4", "changed: n4", "changed: n4", "changed: n4"}, got); diff != "" {
		t.Errorf("wrong list (-want +got):\n%s", diff)
	}
}

func retriesAWriteWithTheSameRequestID(t *testing.T) {
	server := &changingRatio{fail: notReady()}
	if _, err := server.dial(t).SetOverride(t.Context(), "n4", 1.3, 0); Reason(err) != "RATIOS_NOT_READY" || len(server.asked) != 4 {
		t.Fatalf("%v after %d tries, want 4", err, len(server.asked))
	}
	for _, asked := range server.asked {
		if asked.GetRequestId() == "" || asked.GetRequestId() != server.asked[0].GetRequestId() {
			t.Errorf("the tries have the request_ids %q and %q", server.asked[0].GetRequestId(), asked.GetRequestId())
		}
	}
}

func TestUpdateOverrideFunc(t *testing.T) {
	unwilling := errors.New("it is right as it is")
	faster := func(r *workloadresizerv1.Ratio) error { r.CpuPerf++; return nil }
	end := timestamppb.New(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	cpu := func(nodeType string, perf float64, etag string) *workloadresizerv1.UpdateOverrideRequest {
		return &workloadresizerv1.UpdateOverrideRequest{
			Override: &workloadresizerv1.Override{NodeType: nodeType, CpuPerf: &perf}, UpdateMask: mask("cpu_perf"), AllowMissing: true, RatioEtag: etag,
		}
	}
	added := cpu("c3", 1, NoEtag)
	added.AllowNewNodeType = true
	for _, tc := range []struct {
		name     string
		server   changingRatio
		nodeType string
		modify   func(*workloadresizerv1.Ratio) error
		opts     []ChangeOption
		writes   int
		// last is the last request; nil if there is none.
		last *workloadresizerv1.UpdateOverrideRequest
		err  func(error) bool
	}{
		{"writes the changed field", changingRatio{}, "n4", faster, nil, 1, cpu("n4", 2.25, "0"), isNil},
		{"writes all changed fields", changingRatio{}, "n4", func(r *workloadresizerv1.Ratio) error {
			r.MemoryPerf, r.ExpireTime = 2, end
			return nil
		}, nil, 1, &workloadresizerv1.UpdateOverrideRequest{
			Override:   &workloadresizerv1.Override{NodeType: "n4", MemoryPerf: proto.Float64(2), ExpireTime: end},
			UpdateMask: mask("memory_perf", "expire_time"), AllowMissing: true, RatioEtag: "0",
		}, isNil},
		{"starts over if another caller was faster", changingRatio{others: 2}, "n4", faster, nil, 3, cpu("n4", 2.25, "2"), isNil},
		{"gives up after a few tries", changingRatio{others: 100}, "n4", faster, nil, 5, cpu("n4", 2.25, "4"), func(err error) bool { return Reason(err) == "ETAG_MISMATCH" }},
		{"writes nothing if nothing changes", changingRatio{}, "n4", func(*workloadresizerv1.Ratio) error { return nil }, nil, 0, nil, isNil},
		{"writes nothing after an error", changingRatio{}, "n4", func(*workloadresizerv1.Ratio) error { return unwilling }, nil, 0, nil, func(err error) bool { return errors.Is(err, unwilling) }},
		{"fails for an unknown node type", changingRatio{}, "c3", faster, nil, 0, nil, func(err error) bool { return Reason(err) == "NODE_TYPE_UNKNOWN" }},
		{"adds an unknown node type with AllowNewNodeType", changingRatio{}, "c3", faster, []ChangeOption{AllowNewNodeType()}, 1, added, isNil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.server.dial(t).UpdateOverrideFunc(t.Context(), tc.nodeType, tc.modify, tc.opts...)
			if !tc.err(err) || len(tc.server.asked) != tc.writes {
				t.Fatalf("%v after %d writes, want %d", err, len(tc.server.asked), tc.writes)
			}
			if tc.writes == 0 {
				return
			}
			if diff := cmp.Diff(tc.last, tc.server.asked[tc.writes-1], protocmp.Transform(), withoutRequestID); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
		})
	}
}

func isNil(err error) bool { return err == nil }

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }
