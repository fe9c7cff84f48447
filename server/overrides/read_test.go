package overrides

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func listed(t *testing.T, x *suite) {
	s := x.serve(t)
	client := workloadresizerv1.NewOverrideServiceClient(servertest.Connect(t, s))
	if none, err := client.ListOverrides(t.Context(), &workloadresizerv1.ListOverridesRequest{}); err != nil || len(none.GetOverrides()) > 0 || none.GetNextPageToken() != "" {
		t.Errorf("without overrides: %v, %v", none, err)
	}
	var requests []*workloadresizerv1.UpdateOverrideRequest
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprintf("c%d", i))
		requests = append(requests, both(fmt.Sprintf("c%d", 4-i), 1, 1))
	}
	if _, err := s.BatchUpdateOverrides(s.ctx, &workloadresizerv1.BatchUpdateOverridesRequest{Requests: requests}); err != nil {
		t.Fatal(err)
	}
	for size, pages := range map[int32]int{0: 1, 2: 3, 5: 1, 1 << 30: 1} {
		request, count := &workloadresizerv1.ListOverridesRequest{PageSize: size}, 0
		var got []string
		for {
			page, err := client.ListOverrides(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range page.GetOverrides() {
				got = append(got, o.GetNodeType())
			}
			count++
			if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || count != pages {
			t.Errorf("page_size %d: %d pages\n%s", size, count, diff)
		}
	}
	changes, err := client.ListOverrideChanges(t.Context(), &workloadresizerv1.ListOverrideChangesRequest{PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"1", changes.GetNextPageToken() + "x"} {
		_, err := client.ListOverrides(t.Context(), &workloadresizerv1.ListOverridesRequest{PageToken: token})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token is invalid: not a page token of this list, or one of a different request")
	}
}

func gotten(t *testing.T, x *suite) {
	s := x.serve(t)
	_, err := s.GetOverride(s.ctx, &workloadresizerv1.GetOverrideRequest{NodeType: "n4"})
	servertest.CheckError(t, err, codes.NotFound, "NO_OVERRIDE", `node type "n4" has no override`)

	end := timestamppb.New(time.Now().Add(time.Hour).Truncate(time.Second))
	permanent := cpu("n4", 2)
	permanent.Author, permanent.Reason = "ann", "measured"
	s.must(t, permanent)
	temporary := cpu("n4", 3)
	temporary.Author, temporary.Reason, temporary.Override.ExpireTime = "bob", "trial", end
	response := s.must(t, temporary)
	want := &workloadresizerv1.Override{
		NodeType: "n4", CpuPerf: new(3.0), MemoryPerf: new(1.0), ExpireTime: end, Author: "bob", Reason: "trial",
		Fallback: &workloadresizerv1.OverrideValue{CpuPerf: 2, MemoryPerf: 1},
	}
	got := s.override(t, "n4")
	if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.Override{}, "update_time", "etag")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(response.GetOverride(), got, protocmp.Transform()); diff != "" || got.GetEtag() == "" || got.GetUpdateTime() == nil {
		t.Error(diff, got)
	}
}
