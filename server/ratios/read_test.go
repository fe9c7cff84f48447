package ratios

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// serve starts a RatioService without overrides.
func serve(t *testing.T, of servertest.Setup) (*servertest.Parts, workloadresizerv1.RatioServiceClient) {
	t.Helper()
	p := servertest.New(t, of)
	s := New(Config{Store: p.Store, Impacts: p.Loop, Viewer: servertest.All, Watches: streams.NewWatches()})
	p.Run(t, func(ctx context.Context) error { s.Run(ctx); return nil })
	return p, workloadresizerv1.NewRatioServiceClient(servertest.Connect(t, s))
}

func TestListRatios(t *testing.T) {
	r, client := serve(t, servertest.Setup{})
	got, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	from := &workloadresizerv1.Provenance{Source: "configmap", UpdateTime: timestamppb.New(servertest.Written), Author: "kubectl"}
	want := &workloadresizerv1.ListRatiosResponse{
		BaselineNodeType: "n2d",
		Bounds:           &workloadresizerv1.Bounds{Cpu: &workloadresizerv1.QuantityRange{Min: "50m", Max: "16"}, Memory: &workloadresizerv1.QuantityRange{Min: "64Mi"}},
		Revision:         r.Store.Table().Revision,
		Ratios: []*workloadresizerv1.Ratio{
			{NodeType: "n2d", CpuPerf: 1, MemoryPerf: 1, CpuFactor: 1, MemoryFactor: 1, Baseline: true, Provenance: from,
				Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: 1, MemoryPerf: 1, Provenance: from}}},
			{NodeType: "n4", CpuPerf: 1.25, MemoryPerf: 1, CpuFactor: 0.8, MemoryFactor: 1, Provenance: from,
				Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: 1.25, MemoryPerf: 1, Provenance: from}}},
		},
		Sources:       []*workloadresizerv1.RatioSource{{Name: "configmap", Healthy: true}},
		MaxSpeedRatio: 5,
	}
	if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.RatioSource{}, "last_good_time")); diff != "" {
		t.Error(diff)
	}
	if got.GetSources()[0].GetLastGoodTime() == nil {
		t.Error("the source has no last good time")
	}

	changes := r.Store.Watch()
	r.Source.Set(ratios.Update{Err: errors.New("min 2 > max 1")})
	<-changes
	bad, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if s := bad.GetSources()[0]; s.GetHealthy() || s.GetMessage() != "min 2 > max 1" || s.GetLastGoodTime() == nil || bad.GetRevision() != want.GetRevision() {
		t.Errorf("with invalid content: %v", bad)
	}
}

func TestRead(t *testing.T) {
	t.Run("ListRatios returns the rules", listRatiosReturnsTheRules)
}

func listRatiosReturnsTheRules(t *testing.T) {
	l := servertest.Layer()
	l.Rules = []ratios.Rule{{
		Name:     "overrides[0] (critical)",
		Match:    ratios.Criteria{ComputeClass: "Performance"},
		Baseline: "n4",
		Ratios:   map[string]ratios.Ratio{"c3": {CPUPerf: 2.5, MemoryPerf: 1}},

		MaxSpeedRatio: 7,
	}}
	_, client := serve(t, servertest.Setup{Ratios: ratios.Update{Layer: l}})
	got, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	want := []*workloadresizerv1.RatioRule{{
		Name: "overrides[0] (critical)", BaselineNodeType: "n4", Bounds: got.GetBounds(), MaxSpeedRatio: 7,
		Ratios: []*workloadresizerv1.Ratio{
			{NodeType: "c3", CpuPerf: 2.5, MemoryPerf: 1, CpuFactor: 0.5, MemoryFactor: 1},
			{NodeType: "n2d", CpuPerf: 1, MemoryPerf: 1, CpuFactor: 1.25, MemoryFactor: 1},
			{NodeType: "n4", CpuPerf: 1.25, MemoryPerf: 1, CpuFactor: 1, MemoryFactor: 1, Baseline: true},
		},
	}}
	if diff := cmp.Diff(want, got.GetRules(), protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.Ratio{}, "provenance", "candidates")); diff != "" {
		t.Error(diff)
	}
}

func TestGetRatio(t *testing.T) {
	r, client := serve(t, servertest.Setup{})
	got, err := client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4"})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetRatio().GetNodeType() != "n4" || got.GetRatio().GetCpuFactor() != 0.8 || got.GetRevision() != r.Store.Table().Revision {
		t.Errorf("got %v", got)
	}
	_, err = client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "c3"})
	servertest.CheckError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "c3" has no ratio`)
	_, err = client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "node_type must be set")
}
