package benchmarks

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/pace"
	"github.com/workload-resizer/workload-resizer/ratios/production"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// shown is what production shows.
type shown struct{ view production.View }

func (s *shown) View() *production.View { return &s.view }

// inProduction returns suggestions for c4, which only production knows, and n4. It contradicts what people wrote of n4.
func inProduction() *shown {
	return &shown{production.View{
		Since: servertest.Written.Add(-time.Hour), Until: servertest.Written, Baseline: "n2d", Confidence: 0.95, Windows: 2,
		Suggestions: []production.Suggestion{
			{NodeType: "c4", Held: map[string]int{"Pulls": 2}, Doubts: []production.Doubt{{Code: "NotCompared", Detail: "run some workloads on both"}}},
			{
				NodeType: "n4", Cluster: production.Interval{Ratio: 1.5, Low: 1.48, High: 1.52}, Next: production.Interval{Ratio: 1.5, Low: 1.4, High: 1.6},
				Workloads: 42, Nodes: 12, Hours: 3100,
			},
		},
	}}
}

const observed, applied = workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE, workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY

func shownOf(n4 bool) *workloadresizerv1.ProductionSuggestion {
	if !n4 {
		return &workloadresizerv1.ProductionSuggestion{
			HeldWorkloads: map[string]int64{"Pulls": 2}, Holds: []*workloadresizerv1.SuggestionHold{{Code: "NotCompared", Message: "run some workloads on both"}},
			Mode: observed, StartTime: timestamppb.New(servertest.Written.Add(-time.Hour)), EvaluationTime: timestamppb.New(servertest.Written),
		}
	}
	return &workloadresizerv1.ProductionSuggestion{
		Ratio: new(1.5), Interval: &workloadresizerv1.RatioInterval{Low: 1.48, High: 1.52, Confidence: 0.95}, NextInterval: &workloadresizerv1.RatioInterval{Low: 1.4, High: 1.6, Confidence: 0.95},
		Workloads: 42, Nodes: 12, Hours: 3100, Mode: observed, StartTime: timestamppb.New(servertest.Written.Add(-time.Hour)), EvaluationTime: timestamppb.New(servertest.Written), CpuPerf: new(0.75),
		Contradictions: []*workloadresizerv1.RatioContradiction{{Ratio: 1.25}, {Source: "benchmark", Ratio: 22207.0 / 20482}},
	}
}

// production returns what production shows by node type.
func productionOf(t *testing.T, client workloadresizerv1.BenchmarkServiceClient) map[string]*workloadresizerv1.ProductionSuggestion {
	t.Helper()
	got, err := client.ListSuggestions(t.Context(), &workloadresizerv1.ListSuggestionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*workloadresizerv1.ProductionSuggestion{}
	for _, s := range got.GetSuggestions() {
		all[s.GetNodeType()] = s.GetProduction()
	}
	return all
}

func TestProduction(t *testing.T) {
	halves := servertest.Setup{Ratios: ratios.Update{Layer: halved()}}
	t.Run("says why it knows nothing", func(t *testing.T) {
		blind := &shown{production.View{Without: &production.Doubt{Code: production.NoUsage, Detail: "start it with a source"}}}
		client := serve(t, servertest.StartShop(t, halves), &servertest.Measured{Known: published()}, serving{production: blind})
		want := &workloadresizerv1.ProductionSuggestion{
			Holds: []*workloadresizerv1.SuggestionHold{{Code: "NoUsage", Message: "start it with a source"}}, Mode: observed,
		}
		if diff := cmp.Diff(want, productionOf(t, client)["n4"], protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("is next to what benchmarks suggest", func(t *testing.T) {
		client := serve(t, servertest.StartShop(t, halves), &servertest.Measured{Known: published()}, serving{production: inProduction()})
		want := map[string]*workloadresizerv1.ProductionSuggestion{"c3": nil, "c4": shownOf(false), "n4": shownOf(true), "n4@Intel-6-207": nil, "t2d": nil}
		if diff := cmp.Diff(want, productionOf(t, client), protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		got, err := client.GetSuggestion(t.Context(), &workloadresizerv1.GetSuggestionRequest{NodeType: "c4"})
		if err != nil || got.GetSuggestion().GetProduction().GetHolds()[0].GetCode() != "NotCompared" || got.GetSuggestion().Ratio != nil || len(got.GetSuggestion().GetHolds()) != 1 {
			t.Errorf("c4: %v, %v", got, err)
		}
	})
	t.Run("needs no benchmarks", func(t *testing.T) {
		client := serve(t, servertest.StartShop(t, halves), nil, serving{production: inProduction()})
		want := shownOf(true)
		want.Contradictions = want.Contradictions[:1]
		if diff := cmp.Diff(map[string]*workloadresizerv1.ProductionSuggestion{"c4": shownOf(false), "n4": want}, productionOf(t, client), protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		_, err := client.ListBenchmarks(t.Context(), &workloadresizerv1.ListBenchmarksRequest{})
		servertest.CheckError(t, err, codes.FailedPrecondition, "BENCHMARKS_DISABLED", "--ratio-sources")
	})
	t.Run("shows how ratios follow", func(t *testing.T) {
		of := inProduction()
		of.view.Applies = true
		of.view.Progress = map[string]measured.Progress{
			"n4":  {State: pace.State{Baseline: "n2d", Ratio: 1.3, Confirmed: 2, Direction: 1, Moving: true, Changed: servertest.Written}, Target: 1.5, Next: servertest.Written.Add(time.Hour)},
			"old": {State: pace.State{Baseline: "n2d", Ratio: 1.1}, Target: 1, Next: servertest.Written.Add(time.Hour)},
		}
		got := productionOf(t, serve(t, servertest.StartShop(t, halves), &servertest.Measured{Known: published()}, serving{production: of}))
		want := &workloadresizerv1.SuggestionProgress{
			Ratio: new(1.3), Target: 1.5, ConfirmedWindows: 2, NeededWindows: 2, ChangeTime: timestamppb.New(servertest.Written), NextTime: timestamppb.New(servertest.Written.Add(time.Hour)),
		}
		if diff := cmp.Diff(want, got["n4"].GetProgress(), protocmp.Transform()); diff != "" || got["n4"].GetMode() != applied {
			t.Errorf("%v: %s", got["n4"], diff)
		}
		if old := got["old"]; old.GetProgress().GetTarget() != 1 || old.Ratio != nil {
			t.Errorf("a type of which nothing is known any longer: %v", old)
		}
	})
	t.Run("is left out while it is relative to another baseline", func(t *testing.T) {
		of := inProduction()
		of.view.Baseline = "e2"
		got := productionOf(t, serve(t, servertest.StartShop(t, halves), &servertest.Measured{Known: published()}, serving{production: of}))
		if got["n4"] != nil || len(got) != 4 {
			t.Errorf("got %v", got)
		}
	})
}
