package overrides

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/internal/document"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// impactOf is a node type whose cpu performance in the given table is the number of pods in
// the impact.
type impactOf string

func (nodeType impactOf) Impact(_ context.Context, table *ratios.Table) (*query.Impact, error) {
	entry, ok := table.Lookup(string(nodeType))
	if !ok {
		return &query.Impact{}, nil
	}
	return &query.Impact{Total: query.ImpactGroup{Pods: int(entry.Ratio.CPUPerf)}}, nil
}

// ratioServer is a RatioService whose overrides are in a ConfigMap of a real API server.
type ratioServer struct {
	*Service
	// measured has the lowest precedence.
	source, measured *ratiotest.Memory
	ctx              context.Context
}

// cpu returns a request that sets the cpu performance of a node type.
func cpu(nodeType string, perf float64) *workloadresizerv1.UpdateRatioRequest {
	return &workloadresizerv1.UpdateRatioRequest{Ratio: &workloadresizerv1.Ratio{NodeType: nodeType, CpuPerf: perf}}
}

func (s *ratioServer) must(t *testing.T, request *workloadresizerv1.UpdateRatioRequest) *workloadresizerv1.UpdateRatioResponse {
	t.Helper()
	response, err := s.UpdateRatio(s.ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// get returns the ratio in effect, nil if there is none.
func (s *ratioServer) get(nodeType string) *workloadresizerv1.Ratio {
	response, err := s.GetRatio(s.ctx, &workloadresizerv1.GetRatioRequest{NodeType: nodeType})
	if err != nil {
		return nil
	}
	return response.GetRatio()
}

func TestRatioWrites(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	n := 0
	service := func(t *testing.T, opts ...override.Option) *ratioServer {
		t.Helper()
		n++
		name := fmt.Sprintf("overrides-%d", n)
		servertest.ConfigMapIn(t, client, namespace.Name, name)
		overrides := override.New(client, namespace.Name, name, opts...)
		source := ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()})
		measured := ratiotest.NewMemory("benchmark", ratios.Update{Layer: &ratios.Layer{}})
		store := ratios.NewStore(overrides, source, measured)
		servertest.Run(t, store.Run)
		localcluster.Eventually(t, "the ratios", func() error { _, err := store.Ready(); return err })
		local := access.NewContext(t.Context(), access.Caller{Local: true})
		return &ratioServer{New(Config{Store: store, Overrides: overrides, Impacts: impactOf("n4"), Viewer: servertest.All}), source, measured, local}
	}

	t.Run("an override is in effect from the response until it is deleted", func(t *testing.T) {
		s := service(t)
		before := s.get("n4")
		request := cpu("n4", 2)
		request.Reason, request.Author, request.Ratio.Etag = "measured", "ann", before.GetEtag()
		request.Ratio.ExpireTime = timestamppb.New(time.Now().Add(time.Hour))
		got := s.must(t, request)
		if diff := cmp.Diff(s.get("n4"), got.GetRatio(), protocmp.Transform()); diff != "" {
			t.Errorf("in effect, response: %s", diff)
		}
		end := timestamppb.New(request.Ratio.ExpireTime.AsTime().Truncate(time.Second))
		from := &workloadresizerv1.Provenance{Source: "override", Author: "ann", Reason: "measured"}
		want := &workloadresizerv1.Ratio{
			NodeType: "n4", CpuPerf: 2, MemoryPerf: 1, CpuFactor: 0.5, MemoryFactor: 1, Provenance: from, ExpireTime: end,
			Candidates: append([]*workloadresizerv1.RatioCandidate{{CpuPerf: 2, MemoryPerf: 1, Provenance: from}}, before.GetCandidates()...),
		}
		ignored := []cmp.Option{protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.Provenance{}, "update_time"), protocmp.IgnoreFields(&workloadresizerv1.Ratio{}, "etag")}
		if diff := cmp.Diff(want, got.GetRatio(), ignored...); diff != "" {
			t.Error(diff)
		}
		wantChange := &workloadresizerv1.RatioChange{Number: 1, Author: "ann", Reason: "measured", Deltas: []*workloadresizerv1.RatioDelta{
			{NodeType: "n4", To: &workloadresizerv1.RatioOverride{CpuPerf: 2, MemoryPerf: 1, ExpireTime: end}},
		}}
		if diff := cmp.Diff(wantChange, got.GetChange(), protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.RatioChange{}, "create_time")); diff != "" || got.GetImpact() != nil {
			t.Error(diff, got.GetImpact())
		}
		if again := s.must(t, cpu("n4", 2)); again.GetChange() != nil || again.GetRatio().GetCpuPerf() != 2 {
			t.Errorf("an update without a difference is a change: %v", again)
		}
		deleted, err := s.DeleteRatio(s.ctx, &workloadresizerv1.DeleteRatioRequest{NodeType: "n4", Etag: got.GetRatio().GetEtag()})
		if err != nil || deleted.GetChange().GetNumber() != 2 {
			t.Errorf("deleted %v, %v", deleted, err)
		}
		if diff := cmp.Diff(before, deleted.GetRatio(), protocmp.Transform()); diff != "" || !cmp.Equal(before, s.get("n4"), protocmp.Transform()) {
			t.Error(diff)
		}
	})
	t.Run("a CPU model of a node type has its own ratio", func(t *testing.T) {
		s := service(t)
		request := cpu("n4@Intel-6-79", 0.9)
		request.AllowMissing, request.Ratio.MemoryPerf = true, 1
		got := s.must(t, request)
		if r := s.get("n4@Intel-6-79"); r.GetCpuPerf() != 0.9 || got.GetChange().GetDeltas()[0].GetNodeType() != "n4@Intel-6-79" || s.get("n4").GetCpuPerf() == 0.9 {
			t.Errorf("in effect %v, response %v", r, got)
		}
		if _, err := s.DeleteRatio(s.ctx, &workloadresizerv1.DeleteRatioRequest{NodeType: "n4@Intel-6-79"}); err != nil || s.get("n4@Intel-6-79") != nil {
			t.Errorf("deleted: %v", err)
		}
		request.Ratio.NodeType = "n4@Intel@6"
		_, err := s.UpdateRatio(s.ctx, request)
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "must be a valid node type")
	})
	t.Run("an etag is valid for one change", func(t *testing.T) {
		s := service(t)
		request := cpu("n4", 2)
		request.Ratio.Etag = s.get("n4").GetEtag()
		present := s.must(t, request).GetRatio().GetEtag()
		request.Ratio.CpuPerf = 3
		_, err := s.UpdateRatio(s.ctx, request)
		servertest.CheckError(t, err, codes.Aborted, "ETAG_MISMATCH", `node type "n4" has changed since`)
		info, _ := status.Convert(err).Details()[0].(*errdetails.ErrorInfo)
		if info.GetMetadata()["etag"] != present || info.GetMetadata()["nodeType"] != "n4" {
			t.Errorf("the current etag is %s, got %v", present, info)
		}
		_, err = s.DeleteRatio(s.ctx, &workloadresizerv1.DeleteRatioRequest{NodeType: "n4", Etag: request.Ratio.Etag})
		servertest.CheckError(t, err, codes.Aborted, "ETAG_MISMATCH", "")
	})
	t.Run("a new node type needs allow_missing and both performances", func(t *testing.T) {
		s := service(t)
		request := cpu("c3", 2)
		_, err := s.UpdateRatio(s.ctx, request)
		servertest.CheckError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "c3" has no ratio`)
		request.AllowMissing = true
		_, err = s.UpdateRatio(s.ctx, request)
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "ratio.memory_perf must be set")
		request.Ratio.MemoryPerf = 3
		s.must(t, request)
		if r := s.get("c3"); r.GetCpuFactor() != 0.5 || r.GetMemoryPerf() != 3 {
			t.Errorf("in effect: %v", r)
		}
		response, err := s.DeleteRatio(s.ctx, &workloadresizerv1.DeleteRatioRequest{NodeType: "c3"})
		if err != nil || response.GetRatio() != nil {
			t.Errorf("the ratio after the deletion is %v, %v", response.GetRatio(), err)
		}
	})
	t.Run("a change that makes ratios implausible needs allow_implausible", func(t *testing.T) {
		s := service(t)
		allow := func(r *workloadresizerv1.UpdateRatioRequest) *workloadresizerv1.UpdateRatioRequest {
			r.AllowImplausible = true
			return r
		}
		refused := func(want string, call func() error) {
			t.Helper()
			before := s.config.Store.Table().Revision
			servertest.CheckError(t, call(), codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", want)
			if after := s.config.Store.Table().Revision; after != before {
				t.Errorf("the refused change is in effect")
			}
		}
		request := cpu("n4", 125)
		update := func() error { _, err := s.UpdateRatio(s.ctx, request); return err }
		refused("n4 would not be used: n4 would be 125 times as fast as n2d for cpu, beyond maxSpeedRatio 5: correct the ratio of n4 (from override)", update)
		request.ValidateOnly = true
		refused("n4 would be 125 times", update)
		request.ValidateOnly = false
		if got := s.must(t, allow(request)).GetRatio(); !strings.HasPrefix(got.GetImplausible(), "n4 would be 125 times") || s.get("n4").GetImplausible() != got.GetImplausible() {
			t.Errorf("response %v, in effect: %v", got, s.get("n4"))
		}
		// It is another mistake, even if the node type was not used before.
		request = cpu("n4", 126)
		refused("126 times", update)
		// A change elsewhere does not repeat what is known.
		s.must(t, &workloadresizerv1.UpdateRatioRequest{Ratio: &workloadresizerv1.Ratio{NodeType: "c3", CpuPerf: 1.3, MemoryPerf: 1}, AllowMissing: true})
		if got := s.must(t, cpu("n4", 1.25)).GetRatio(); got.GetImplausible() != "" {
			t.Errorf("after the correction: %v", got)
		}

		// A batch is judged as a whole, and the error names all node types.
		batch := &workloadresizerv1.BatchUpdateRatiosRequest{Requests: []*workloadresizerv1.UpdateRatioRequest{cpu("n4", 1.2), cpu("n2d", 100)}}
		updateAll := func() error { _, err := s.BatchUpdateRatios(s.ctx, batch); return err }
		refused("2 node types would not be used: c3 (n2d would be 76.9231 times as fast as c3 for cpu), n4 (n2d would be 83.3333 times as fast as n4 for cpu), beyond maxSpeedRatio: correct the ratios", updateAll)
		batch.Requests[1].AllowImplausible = true
		servertest.CheckError(t, updateAll(), codes.InvalidArgument, "INVALID_ARGUMENT", "requests[1] must not have validate_only, reason, author or allow_implausible: set them in the batch")
		batch.Requests = []*workloadresizerv1.UpdateRatioRequest{cpu("n4", 125), cpu("n2d", 100), cpu("c3", 130)}
		if err := updateAll(); err != nil {
			t.Errorf("all are about as fast as each other: %v", err)
		}
		batch.Requests, batch.AllowImplausible = []*workloadresizerv1.UpdateRatioRequest{cpu("n4", 1)}, true
		if err := updateAll(); err != nil || s.get("n4").GetImplausible() == "" {
			t.Errorf("allowed: %v, in effect %v", err, s.get("n4"))
		}

		// A deletion and a rollback return to what was there before.
		s.must(t, cpu("n4", 110))
		deletion := &workloadresizerv1.DeleteRatioRequest{NodeType: "n4"}
		remove := func() error { _, err := s.DeleteRatio(s.ctx, deletion); return err }
		refused("n2d would be 80 times as fast as n4 for cpu, beyond maxSpeedRatio 5: correct the ratio of n4 (from configmap)", remove)
		deletion.ValidateOnly = true
		refused("n2d would be 80 times", remove)
		deletion.ValidateOnly, deletion.AllowImplausible = false, true
		if err := remove(); err != nil || s.get("n4").GetImplausible() == "" {
			t.Errorf("deleted: %v, in effect %v", err, s.get("n4"))
		}
		to := int64(1)
		rollback := &workloadresizerv1.RollbackRatiosRequest{ToChange: &to}
		back := func() error { _, err := s.RollbackRatios(s.ctx, rollback); return err }
		refused("n4 would be 125 times as fast as n2d", back)
		rollback.AllowImplausible = true
		if err := back(); err != nil || s.get("n4").GetImplausible() == "" {
			t.Errorf("rolled back: %v, in effect %v", err, s.get("n4"))
		}
		if _, err := s.DeleteRatio(s.ctx, &workloadresizerv1.DeleteRatioRequest{NodeType: "n4"}); err != nil || s.get("n4").GetImplausible() != "" {
			t.Errorf("deleted the mistake: %v, in effect %v", err, s.get("n4"))
		}
	})
	t.Run("rules and ratios relative to another type are judged by what results", func(t *testing.T) {
		s := service(t)
		config := servertest.Layer()
		config.Ratios["c3"] = ratios.Ratio{CPUPerf: 4, MemoryPerf: 1}
		config.Rules = []ratios.Rule{{Name: "critical", Match: ratios.Criteria{ComputeClass: "critical"}, Baseline: "c3"}}
		s.source.Set(ratios.Update{Layer: config})
		s.measured.Set(ratios.Update{Layer: &ratios.Layer{RelativeTo: "n4", Ratios: map[string]ratios.Ratio{"m7i": {CPUPerf: 2}}}})
		localcluster.Eventually(t, "the ratios", func() error {
			if table := s.config.Store.Table(); !table.Knows("m7i") || len(table.Profiles()) != 2 {
				return fmt.Errorf("the table has %v", table.NodeTypes())
			}
			return nil
		})
		// n4 is the unit of m7i, but the baseline of neither the globals nor the rule.
		_, err := s.UpdateRatio(s.ctx, cpu("n4", 3))
		servertest.CheckError(t, err, codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", "m7i would not be used: m7i would be 6 times as fast as n2d for cpu")
		_, err = s.UpdateRatio(s.ctx, cpu("n4", 0.3))
		servertest.CheckError(t, err, codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", "2 node types would not be used: m7i by critical (c3 would be 6.66667 times as fast as m7i for cpu), n4 by critical (c3 would be 13.3333 times as fast as n4 for cpu), beyond")
		s.must(t, cpu("n4", 2))
	})
	t.Run("a batch is applied as a whole or not at all", func(t *testing.T) {
		s := service(t)
		batch := &workloadresizerv1.BatchUpdateRatiosRequest{Requests: []*workloadresizerv1.UpdateRatioRequest{cpu("n4", 2), cpu("c3", 3)}, Author: "ann"}
		_, err := s.BatchUpdateRatios(s.ctx, batch)
		servertest.CheckError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "c3"`)
		batch.Requests[1] = cpu("n2d", 0)
		_, err = s.BatchUpdateRatios(s.ctx, batch)
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "requests[1].update_mask must name the fields to change")
		if r := s.get("n4"); r.GetCpuPerf() != 1.25 {
			t.Errorf("in effect: %v", r)
		}
		batch.Requests[1] = cpu("n2d", 4)
		response, err := s.BatchUpdateRatios(s.ctx, batch)
		if err != nil || len(response.GetRatios()) != 2 || response.GetRatios()[1].GetCpuPerf() != 4 || response.GetRatios()[0].GetCpuFactor() != 2 {
			t.Errorf("batch: %v, %v", response, err)
		}
		if c := response.GetChange(); c.GetNumber() != 1 || c.GetAuthor() != "ann" || len(c.GetDeltas()) != 2 {
			t.Errorf("changed %v", c)
		}
		for _, bad := range []struct {
			requests []*workloadresizerv1.UpdateRatioRequest
			want     string
		}{
			{[]*workloadresizerv1.UpdateRatioRequest{cpu("n4", 1), cpu("n4", 2)}, "requests[1].ratio.node_type is also set in requests[0]"},
			{[]*workloadresizerv1.UpdateRatioRequest{{Ratio: cpu("n4", 1).Ratio, Author: "ann"}}, "requests[0] must not have validate_only, reason, author or allow_implausible"},
		} {
			_, err := s.BatchUpdateRatios(s.ctx, &workloadresizerv1.BatchUpdateRatiosRequest{Requests: bad.requests})
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", bad.want)
		}
	})
	t.Run("validate_only returns the result and writes nothing", func(t *testing.T) {
		s := service(t)
		s.must(t, cpu("n4", 2))
		request := cpu("n4", 4)
		request.ValidateOnly = true
		response := s.must(t, request)
		if response.GetImpact().GetTotal().GetPods() != 4 || response.GetRatio().GetCpuPerf() != 4 || response.GetChange().GetNumber() != 0 {
			t.Errorf("update: %v", response)
		}
		batch, err := s.BatchUpdateRatios(s.ctx, &workloadresizerv1.BatchUpdateRatiosRequest{Requests: []*workloadresizerv1.UpdateRatioRequest{cpu("n4", 3)}, ValidateOnly: true})
		if err != nil || batch.GetImpact().GetTotal().GetPods() != 3 {
			t.Errorf("batch: %v, %v", batch, err)
		}
		deleted, err := s.DeleteRatio(s.ctx, &workloadresizerv1.DeleteRatioRequest{NodeType: "n4", ValidateOnly: true})
		if err != nil || deleted.GetImpact().GetTotal().GetPods() != 1 || deleted.GetRatio().GetCpuPerf() != 1.25 {
			t.Errorf("delete: %v, %v", deleted, err)
		}
		back, err := s.RollbackRatios(s.ctx, &workloadresizerv1.RollbackRatiosRequest{ValidateOnly: true})
		if err != nil || back.GetImpact().GetTotal().GetPods() != 1 || back.GetChange().GetNumber() != 0 || back.GetChange().RollbackTo == nil {
			t.Errorf("rollback: %v, %v", back, err)
		}
		if r := s.get("n4"); r.GetCpuPerf() != 2 {
			t.Errorf("in effect: %v", r)
		}
	})
	t.Run("the baseline cannot lose its only ratio", func(t *testing.T) {
		s := service(t)
		s.must(t, &workloadresizerv1.UpdateRatioRequest{Ratio: &workloadresizerv1.Ratio{NodeType: "c3", CpuPerf: 1, MemoryPerf: 1}, AllowMissing: true})
		other := servertest.Layer()
		other.Baseline = "c3"
		s.source.Set(ratios.Update{Layer: other})
		localcluster.Eventually(t, "the baseline", func() error {
			if got := s.config.Store.Table().Baseline; got != "c3" {
				return fmt.Errorf("the baseline is %s", got)
			}
			return nil
		})
		_, err := s.DeleteRatio(s.ctx, &workloadresizerv1.DeleteRatioRequest{NodeType: "c3"})
		servertest.CheckError(t, err, codes.FailedPrecondition, "BASELINE_IN_USE", `the baseline node type "c3" has no ratio`)
		_, err = s.RollbackRatios(s.ctx, &workloadresizerv1.RollbackRatiosRequest{})
		servertest.CheckError(t, err, codes.FailedPrecondition, "BASELINE_IN_USE", `the baseline node type "c3" has no ratio`)
		if s.get("c3") == nil {
			t.Error("the baseline is gone")
		}
	})
	t.Run("deleting a missing override needs allow_missing", func(t *testing.T) {
		s := service(t)
		_, err := s.DeleteRatio(s.ctx, &workloadresizerv1.DeleteRatioRequest{NodeType: "n4"})
		servertest.CheckError(t, err, codes.NotFound, "NO_OVERRIDE", `node type "n4" has no override`)
		response, err := s.DeleteRatio(s.ctx, &workloadresizerv1.DeleteRatioRequest{NodeType: "n4", AllowMissing: true})
		if err != nil || response.GetChange() != nil || response.GetRatio().GetCpuPerf() != 1.25 {
			t.Errorf("deleted: %v, %v", response, err)
		}
	})
	t.Run("changes are listed in pages and can be rolled back", func(t *testing.T) {
		s := service(t)
		for i := range 5 {
			s.must(t, cpu([]string{"n4", "n2d"}[i%2], float64(i+2)))
		}
		list := func(request *workloadresizerv1.ListRatioChangesRequest) (pages [][]int64) {
			t.Helper()
			for {
				response, err := s.ListRatioChanges(s.ctx, request)
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
			request *workloadresizerv1.ListRatioChangesRequest
			want    [][]int64
		}{
			{&workloadresizerv1.ListRatioChangesRequest{}, [][]int64{{5, 4, 3, 2, 1}}},
			{&workloadresizerv1.ListRatioChangesRequest{PageSize: 2}, [][]int64{{5, 4}, {3, 2}, {1}}},
			{&workloadresizerv1.ListRatioChangesRequest{PageSize: 5}, [][]int64{{5, 4, 3, 2, 1}}},
			{&workloadresizerv1.ListRatioChangesRequest{PageSize: 2, NodeType: "n4"}, [][]int64{{5, 3}, {1}}},
			{&workloadresizerv1.ListRatioChangesRequest{NodeType: "c3"}, [][]int64{nil}},
		} {
			if diff := cmp.Diff(tc.want, list(tc.request)); diff != "" {
				t.Errorf("%v: %s", tc.request, diff)
			}
		}
		_, err := s.ListRatioChanges(s.ctx, &workloadresizerv1.ListRatioChangesRequest{PageToken: "2"})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token is invalid: not a page token of this server")

		_, err = s.RollbackRatios(s.ctx, &workloadresizerv1.RollbackRatiosRequest{ToChange: new(int64(2)), ExpectedNewestChange: 4})
		servertest.CheckError(t, err, codes.Aborted, "ETAG_MISMATCH", "the newest change is 5")
		if info, _ := status.Convert(err).Details()[0].(*errdetails.ErrorInfo); info.GetMetadata()["newestChange"] != "5" {
			t.Errorf("got %v", info)
		}
		_, err = s.RollbackRatios(s.ctx, &workloadresizerv1.RollbackRatiosRequest{ToChange: new(int64(6))})
		servertest.CheckError(t, err, codes.OutOfRange, "CHANGE_NOT_KEPT", "change 6 does not exist")
		response, err := s.RollbackRatios(s.ctx, &workloadresizerv1.RollbackRatiosRequest{ToChange: new(int64(2)), ExpectedNewestChange: 5, Reason: "worse"})
		if c := response.GetChange(); err != nil || c.GetNumber() != 6 || c.GetRollbackTo() != 2 || c.GetReason() != "worse" {
			t.Errorf("rolled back: %v, %v", response, err)
		}
		if s.get("n4").GetCpuPerf() != 2 || s.get("n2d").GetCpuPerf() != 3 {
			t.Errorf("in effect: %v, %v", s.get("n4"), s.get("n2d"))
		}
	})
	t.Run("unchanged values come from the stored overrides, not from a stale table", func(t *testing.T) {
		n++
		patchOfAStaleTable(t, client, namespace.Name, fmt.Sprintf("overrides-%d", n))
	})
	t.Run("the author is the caller, if it is known", func(t *testing.T) {
		s := service(t)
		s.ctx = access.NewContext(t.Context(), access.Caller{Name: "bob@example.com"})
		request := cpu("n4", 2)
		request.Author = "ann"
		if c := s.must(t, request).GetChange(); c.GetAuthor() != "bob@example.com" {
			t.Errorf("changed by %q", c.GetAuthor())
		}
	})
	t.Run("a dry run refuses changes", func(t *testing.T) {
		s := service(t, override.ReadOnly())
		request := cpu("n4", 2)
		_, err := s.UpdateRatio(s.ctx, request)
		servertest.CheckError(t, err, codes.FailedPrecondition, "READ_ONLY", "--dry-run")
		request.ValidateOnly = true
		if checked, err := s.UpdateRatio(s.ctx, request); err != nil || checked.GetRatio().GetCpuPerf() != 2 {
			t.Errorf("validated: %v, %v", checked, err)
		}
	})
	t.Run("a missing ConfigMap is reported with advice", func(t *testing.T) {
		s := service(t)
		if err := client.CoreV1().ConfigMaps(namespace.Name).Delete(t.Context(), fmt.Sprintf("overrides-%d", n), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := s.UpdateRatio(s.ctx, cpu("n4", 2))
		servertest.CheckError(t, err, codes.FailedPrecondition, "OVERRIDES_MISSING", "apply your manifests")
	})
}

func TestWrite(t *testing.T) {
	t.Run("a server without overrides refuses changes", aServerWithoutOverridesRefusesChanges)
	t.Run("an update changes the fields of its mask", anUpdateChangesTheFieldsOfItsMask)
	t.Run("reason and author are one line each", reasonAndAuthorAreOneLineEach)
	t.Run("translates errors of the store", translatesErrorsOfTheStore)
}

func aServerWithoutOverridesRefusesChanges(t *testing.T) {
	s := New(Config{Store: ratios.NewStore()})
	for name, call := range map[string]func() error{
		"update":   func() error { _, err := s.UpdateRatio(t.Context(), cpu("n4", 2)); return err },
		"delete":   func() error { _, err := s.DeleteRatio(t.Context(), nil); return err },
		"rollback": func() error { _, err := s.RollbackRatios(t.Context(), nil); return err },
		"changes":  func() error { _, err := s.ListRatioChanges(t.Context(), nil); return err },
		"batch": func() error {
			_, err := s.BatchUpdateRatios(t.Context(), &workloadresizerv1.BatchUpdateRatiosRequest{Requests: []*workloadresizerv1.UpdateRatioRequest{cpu("n4", 2)}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			servertest.CheckError(t, call(), codes.FailedPrecondition, "OVERRIDES_DISABLED", "add override to its --ratio-sources")
		})
	}
}

func anUpdateChangesTheFieldsOfItsMask(t *testing.T) {
	now := time.Date(2026, 11, 21, 1, 2, 3, 4, time.UTC)
	hour := now.Add(time.Hour)
	full := &workloadresizerv1.Ratio{NodeType: "n4", CpuPerf: 2, MemoryPerf: 3, ExpireTime: timestamppb.New(hour), Etag: "e"}
	two, three, never, end := 2.0, 3.0, time.Time{}, hour.Truncate(time.Second)
	mask := func(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }
	for _, tc := range []struct {
		name  string
		ratio *workloadresizerv1.Ratio
		mask  *fieldmaskpb.FieldMask
		want  override.Patch
		wrong string
	}{
		{"without a mask, the fields that are set", full, nil, override.Patch{NodeType: "n4", Etag: "e", CPUPerf: &two, MemoryPerf: &three, ExpireTime: &end}, ""},
		{"an empty mask is no mask", &workloadresizerv1.Ratio{NodeType: "n4", CpuPerf: 2}, mask(), override.Patch{NodeType: "n4", CPUPerf: &two}, ""},
		{"with a mask, the fields that it names", full, mask("memory_perf"), override.Patch{NodeType: "n4", Etag: "e", MemoryPerf: &three}, ""},
		{"no expiry", &workloadresizerv1.Ratio{NodeType: "n4"}, mask("expire_time"), override.Patch{NodeType: "n4", ExpireTime: &never}, ""},
		{"a path twice", full, mask("cpu_perf", "cpu_perf"), override.Patch{NodeType: "n4", Etag: "e", CPUPerf: &two}, ""},
		{"an unknown field", full, mask("cpu_perf", "speed"), override.Patch{}, "requests[2].update_mask names a field that a ratio does not have"},
		{"a wildcard", full, mask("*"), override.Patch{}, "requests[2].update_mask names a field that a ratio does not have"},
		{"an output-only field", full, mask("provenance.author"), override.Patch{}, "requests[2].update_mask names provenance.author, which cannot be changed"},
		{"the node type", full, mask("node_type"), override.Patch{}, "requests[2].update_mask names node_type, which cannot be changed"},
		{"no field at all", &workloadresizerv1.Ratio{NodeType: "n4"}, nil, override.Patch{}, "requests[2].update_mask must name the fields to change"},
		{"a performance that is named but not set", &workloadresizerv1.Ratio{NodeType: "n4"}, mask("cpu_perf"), override.Patch{}, "requests[2].ratio.cpu_perf must be above 0"},
		{"an expiry in the past", &workloadresizerv1.Ratio{NodeType: "n4", ExpireTime: timestamppb.New(now)}, nil, override.Patch{}, "requests[2].ratio.expire_time must be in the future"},
		{"an invalid expiry", &workloadresizerv1.Ratio{NodeType: "n4", ExpireTime: &timestamppb.Timestamp{Seconds: math.MaxInt64}}, nil, override.Patch{}, "requests[2].ratio.expire_time must be in the future"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, wrong := ratioPatch(&workloadresizerv1.UpdateRatioRequest{Ratio: tc.ratio, UpdateMask: tc.mask}, "requests[2].", now)
			if tc.wrong != "" {
				if len(wrong) != 1 || !strings.HasPrefix(wrong[0].Field+" "+wrong[0].Problem, tc.wrong) {
					t.Errorf("wrong: %v, want %s", wrong, tc.wrong)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(wrong) > 0 {
				t.Error(diff, wrong)
			}
		})
	}
}

func reasonAndAuthorAreOneLineEach(t *testing.T) {
	store := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
	s := New(Config{Store: store})
	_, err := s.write(t.Context(), &workloadresizerv1.RollbackRatiosRequest{Reason: "a\nb", Author: strings.Repeat("a", 129)}, nil, nil)
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "reason must be one line of text without control characters; author is 129 bytes long, the maximum is 128")
	_, err = s.write(t.Context(), &workloadresizerv1.RollbackRatiosRequest{Reason: "\ufffe"}, nil, nil)
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "reason contains U+FFFE, which is not a character")
}

func translatesErrorsOfTheStore(t *testing.T) {
	for _, tc := range []struct {
		err     error
		code    codes.Code
		reason  string
		message string
	}{
		{&document.RefusedError{Err: context.Canceled}, codes.FailedPrecondition, "OVERRIDES_REFUSED", "permissions of deploy/base"},
		{&document.ContentError{Noun: "overrides", Err: context.Canceled}, codes.FailedPrecondition, "OVERRIDES_INVALID", "to delete all overrides"},
		{&override.FullError{Overrides: 1001}, codes.ResourceExhausted, "TOO_MANY_OVERRIDES", "1001 overrides"},
		{&override.FieldError{NodeType: "n4", Field: "memPerf", Problem: "must be set"}, codes.InvalidArgument, "INVALID_ARGUMENT", "ratio.memory_perf must be set"},
		{fmt.Errorf("no connection"), codes.Unavailable, "OVERRIDES_NOT_READY", "no connection"},
	} {
		servertest.CheckError(t, overrideError(tc.err), tc.code, tc.reason, tc.message)
	}
	if err := overrideError(fmt.Errorf("read: %w", context.DeadlineExceeded)); status.Code(err) != codes.DeadlineExceeded {
		t.Error(err)
	}
}
