package overrides

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func inEffect(t *testing.T, x *suite) {
	s := x.serve(t)
	before := s.get("n4")
	request := cpu("n4", 2)
	request.Reason, request.Author, request.RatioEtag = "measured", "ann", before.GetEtag()
	request.Override.ExpireTime = timestamppb.New(time.Now().Add(time.Hour))
	got := s.must(t, request)
	if diff := cmp.Diff(s.get("n4"), got.GetRatio(), protocmp.Transform()); diff != "" {
		t.Errorf("in effect, response: %s", diff)
	}
	end := timestamppb.New(request.Override.ExpireTime.AsTime().Truncate(time.Second))
	from := &workloadresizerv1.Provenance{Source: "override", Author: "ann", Reason: "measured"}
	want := &workloadresizerv1.Ratio{
		NodeType: "n4", CpuPerf: 2, MemoryPerf: 1, CpuFactor: 0.5, MemoryFactor: 1, Provenance: from, ExpireTime: end,
		Candidates: append([]*workloadresizerv1.RatioCandidate{{CpuPerf: 2, MemoryPerf: 1, Provenance: from}}, before.GetCandidates()...),
	}
	ignored := []cmp.Option{protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.Provenance{}, "update_time"), protocmp.IgnoreFields(&workloadresizerv1.Ratio{}, "etag")}
	if diff := cmp.Diff(want, got.GetRatio(), ignored...); diff != "" {
		t.Error(diff)
	}
	wantChange := &workloadresizerv1.OverrideChange{Number: new(int64(1)), Author: "ann", Reason: "measured", Deltas: []*workloadresizerv1.OverrideDelta{
		{NodeType: "n4", To: &workloadresizerv1.OverrideValue{CpuPerf: 2, MemoryPerf: 1, ExpireTime: end}},
	}}
	if diff := cmp.Diff(wantChange, got.GetChange(), protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.OverrideChange{}, "create_time")); diff != "" || got.GetImpact() != nil {
		t.Error(diff, got.GetImpact())
	}
	same := cpu("n4", 2)
	same.Author = "bob"
	again := s.must(t, same)
	if diff := cmp.Diff(got.GetOverride(), again.GetOverride(), protocmp.Transform()); diff != "" || again.GetChange() != nil {
		t.Errorf("an update without a difference is a change: %v\n%s", again.GetChange(), diff)
	}
	if diff := cmp.Diff(got.GetRatio(), again.GetRatio(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	deleted, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", Etag: got.GetOverride().GetEtag()})
	if err != nil || deleted.GetChange().GetNumber() != 2 {
		t.Errorf("deleted %v, %v", deleted, err)
	}
	if diff := cmp.Diff(before, deleted.GetRatio(), protocmp.Transform()); diff != "" || !cmp.Equal(before, s.get("n4"), protocmp.Transform()) {
		t.Error(diff)
	}
}

func cpuModel(t *testing.T, x *suite) {
	s := x.serve(t)
	request := cpu("n4@Intel-6-79", 0.9)
	request.AllowNewNodeType, request.Override.MemoryPerf = true, new(1.0)
	got := s.must(t, request)
	if r := s.get("n4@Intel-6-79"); r.GetCpuPerf() != 0.9 || got.GetChange().GetDeltas()[0].GetNodeType() != "n4@Intel-6-79" || s.get("n4").GetCpuPerf() == 0.9 {
		t.Errorf("in effect %v, response %v", r, got)
	}
	if _, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4@Intel-6-79"}); err != nil || s.get("n4@Intel-6-79") != nil {
		t.Errorf("deleted: %v", err)
	}
	request.Override.NodeType = "n4@Intel@6"
	_, err := s.UpdateOverride(s.ctx, request)
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "must be a valid node type")
}

func newOverride(t *testing.T, x *suite) {
	s := x.serve(t)
	request := cpu("n4", 2)
	request.AllowMissing, request.AllowNewNodeType = false, true
	_, err := s.UpdateOverride(s.ctx, request)
	servertest.CheckError(t, err, codes.NotFound, "NO_OVERRIDE", `node type "n4" has no override`)
	s.must(t, cpu("n4", 2))
	request.Override.CpuPerf = new(3.0)
	s.must(t, request)
}

func newNodeType(t *testing.T, x *suite) {
	s := x.serve(t)
	request := cpu("c3", 2)
	_, err := s.UpdateOverride(s.ctx, request)
	servertest.CheckError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "c3" has no ratio`)
	request.AllowNewNodeType = true
	_, err = s.UpdateOverride(s.ctx, request)
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "override.memory_perf must be set")
	request.Override.MemoryPerf = new(3.0)
	s.must(t, request)
	if r := s.get("c3"); r.GetCpuFactor() != 0.5 || r.GetMemoryPerf() != 3 {
		t.Errorf("in effect: %v", r)
	}
	response, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "c3"})
	if err != nil || response.GetRatio() != nil {
		t.Errorf("the ratio after the deletion is %v, %v", response.GetRatio(), err)
	}
}

func batch(t *testing.T, x *suite) {
	s := x.serve(t)
	batch := &workloadresizerv1.BatchUpdateOverridesRequest{Requests: []*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 2), cpu("c3", 3)}, Author: "ann"}
	_, err := s.BatchUpdateOverrides(s.ctx, batch)
	servertest.CheckError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "c3"`)
	batch.Requests[1] = &workloadresizerv1.UpdateOverrideRequest{Override: &workloadresizerv1.Override{NodeType: "n2d"}}
	_, err = s.BatchUpdateOverrides(s.ctx, batch)
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "requests[1].update_mask must name the fields to change")
	if r := s.get("n4"); r.GetCpuPerf() != 1.25 {
		t.Errorf("in effect: %v", r)
	}
	batch.Requests[1] = cpu("n2d", 4)
	response, err := s.BatchUpdateOverrides(s.ctx, batch)
	if err != nil || len(response.GetRatios()) != 2 || response.GetRatios()[1].GetCpuPerf() != 4 || response.GetRatios()[0].GetCpuFactor() != 2 {
		t.Errorf("batch: %v, %v", response, err)
	}
	if c := response.GetChange(); c.GetNumber() != 1 || c.GetAuthor() != "ann" || len(c.GetDeltas()) != 2 {
		t.Errorf("changed %v", c)
	}
	for _, bad := range []struct {
		requests []*workloadresizerv1.UpdateOverrideRequest
		want     string
	}{
		{[]*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 1), cpu("n4", 2)}, "requests[1].override.node_type is also set in requests[0]"},
		{[]*workloadresizerv1.UpdateOverrideRequest{{Override: cpu("n4", 1).Override, Author: "ann"}}, "requests[0] must not have validate_only, reason, author, allow_implausible or request_id"},
	} {
		_, err := s.BatchUpdateOverrides(s.ctx, &workloadresizerv1.BatchUpdateOverridesRequest{Requests: bad.requests})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", bad.want)
	}
}

func authorIsCaller(t *testing.T, x *suite) {
	s := x.serve(t)
	s.ctx = access.NewContext(t.Context(), access.Caller{Name: "bob@example.com"})
	if c := s.must(t, cpu("n4", 2)).GetChange(); c.GetAuthor() != "bob@example.com" {
		t.Errorf("changed by %q", c.GetAuthor())
	}
	const refused = "author must be empty: the server knows its callers, and you are bob@example.com"
	request := cpu("n4", 3)
	request.Author = "ann"
	_, updated := s.UpdateOverride(s.ctx, request)
	_, deleted := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", Author: "ann"})
	_, rolledBack := s.RollbackOverrides(s.ctx, &workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(0)), Author: "ann", ValidateOnly: true})
	_, all := s.BatchUpdateOverrides(s.ctx, &workloadresizerv1.BatchUpdateOverridesRequest{Requests: []*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 3)}, Author: "ann"})
	for _, err := range []error{updated, deleted, rolledBack, all} {
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", refused)
	}
	if r := s.get("n4"); r.GetCpuPerf() != 2 {
		t.Errorf("in effect: %v", r)
	}
}
