package overrides

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
	testingclock "k8s.io/utils/clock/testing"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func changes(t *testing.T, x *suite) {
	s := x.serve(t)
	for i := range 5 {
		s.must(t, cpu([]string{"n4", "n2d"}[i%2], float64(i+2)))
	}
	list := func(request *workloadresizerv1.ListOverrideChangesRequest) (pages [][]int64) {
		t.Helper()
		for {
			response, err := s.ListOverrideChanges(s.ctx, request)
			if err != nil {
				t.Fatal(err)
			}
			var page []int64
			for _, c := range response.GetChanges() {
				page = append(page, c.GetNumber())
			}
			pages = append(pages, page)
			if request.PageToken = response.GetNextPageToken(); request.PageToken == "" {
				return pages
			}
		}
	}
	for _, tc := range []struct {
		request *workloadresizerv1.ListOverrideChangesRequest
		want    [][]int64
	}{
		{&workloadresizerv1.ListOverrideChangesRequest{}, [][]int64{{5, 4, 3, 2, 1}}},
		{&workloadresizerv1.ListOverrideChangesRequest{PageSize: 2}, [][]int64{{5, 4}, {3, 2}, {1}}},
		{&workloadresizerv1.ListOverrideChangesRequest{PageSize: 5}, [][]int64{{5, 4, 3, 2, 1}}},
		{&workloadresizerv1.ListOverrideChangesRequest{PageSize: 2, NodeType: "n4"}, [][]int64{{5, 3}, {1}}},
		{&workloadresizerv1.ListOverrideChangesRequest{NodeType: "c3"}, [][]int64{nil}},
	} {
		if diff := cmp.Diff(tc.want, list(tc.request)); diff != "" {
			t.Errorf("%v: %s", tc.request, diff)
		}
	}
	_, err := s.ListOverrideChanges(s.ctx, &workloadresizerv1.ListOverrideChangesRequest{PageToken: "2"})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token is invalid: not a page token of this list")

	_, err = s.RollbackOverrides(s.ctx, &workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(2)), ExpectedNewestChange: new(int64(4))})
	servertest.CheckError(t, err, codes.Aborted, "ETAG_MISMATCH", "the newest change is 5")
	if info, _ := status.Convert(err).Details()[0].(*errdetails.ErrorInfo); info.GetMetadata()["newestChange"] != "5" {
		t.Errorf("got %v", info)
	}
	_, err = s.RollbackOverrides(s.ctx, &workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(6))})
	servertest.CheckError(t, err, codes.OutOfRange, "CHANGE_NOT_KEPT", "change 6 does not exist")
	response, err := s.RollbackOverrides(s.ctx, &workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(2)), ExpectedNewestChange: new(int64(5)), Reason: "worse"})
	if c := response.GetChange(); err != nil || c.GetNumber() != 6 || c.GetRollbackTo() != 2 || c.GetReason() != "worse" {
		t.Errorf("rolled back: %v, %v", response, err)
	}
	if s.get("n4").GetCpuPerf() != 2 || s.get("n2d").GetCpuPerf() != 3 {
		t.Errorf("in effect: %v, %v", s.get("n4"), s.get("n2d"))
	}
}

func fallsBack(t *testing.T, x *suite) {
	clock := testingclock.NewFakeClock(time.Now())
	s := x.serve(t, override.WithClock(clock))
	s.must(t, cpu("n4", 2))
	end := clock.Now().Add(time.Hour)
	temporary := cpu("n4", 3)
	temporary.Override.ExpireTime = timestamppb.New(end)
	s.must(t, temporary)
	other := both("c3", 1, 1)
	other.Override.ExpireTime = timestamppb.New(end)
	s.must(t, other)

	localcluster.Eventually(t, "the expiry", func() error {
		clock.Step(time.Hour)
		if r := s.get("n4"); r.GetCpuPerf() != 2 || s.get("c3") != nil {
			return fmt.Errorf("in effect: %v, %v", r, s.get("c3"))
		}
		return nil
	})
	if o := s.override(t, "n4"); o.GetCpuPerf() != 2 || o.GetExpireTime() != nil || o.GetFallback() != nil || s.override(t, "c3") != nil {
		t.Errorf("after the expiry: %v, %v", o, s.override(t, "c3"))
	}
	value := func(cpu float64) *workloadresizerv1.OverrideValue {
		return &workloadresizerv1.OverrideValue{CpuPerf: cpu, MemoryPerf: 1}
	}
	temporarily := func(v *workloadresizerv1.OverrideValue) *workloadresizerv1.OverrideValue {
		v.ExpireTime = timestamppb.New(end.Truncate(time.Second))
		return v
	}
	from := temporarily(value(3))
	from.Fallback = value(2)
	want := &workloadresizerv1.OverrideChange{Number: new(int64(4)), CreateTime: from.ExpireTime, Reason: "expired", Expiry: true, Deltas: []*workloadresizerv1.OverrideDelta{
		{NodeType: "c3", From: temporarily(value(1))},
		{NodeType: "n4", From: from, To: value(2)},
	}}
	// The change is in the history from its time on, and of all replicas one stores it.
	for name, of := range map[string]*server{"on the same replica": s, "on another replica": x.replica(t, override.WithClock(clock))} {
		response, err := of.ListOverrideChanges(of.ctx, &workloadresizerv1.ListOverrideChangesRequest{PageSize: 1})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]*workloadresizerv1.OverrideChange{want}, response.GetChanges(), protocmp.Transform()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	back, err := s.RollbackOverrides(s.ctx, &workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(3)), ValidateOnly: true})
	if err != nil || back.GetChange() != nil {
		t.Errorf("a rollback does not restore what has expired: %v, %v", back, err)
	}
}
