package benchmarks

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/pace"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// published returns estimates for c3, n4, one CPU model of n4, and t2d against n2d.
func published() *judge.View {
	v := &judge.View{Settings: servertest.DefaultSettings(), Baseline: "n2d", Time: servertest.Written}
	v.Estimates = []estimate.Estimate{
		{NodeType: "c3", Baseline: "n2d", Doubts: []estimate.Doubt{{Code: estimate.TooFewBenchmarks, Message: "0 benchmarks, 2 are needed"}}, Samples: 1, Machines: 1},
		{
			NodeType: "n4", Baseline: "n2d", Ratio: 22207.0 / 20482, Interval: &estimate.Interval{Low: 1.07, High: 1.1}, Samples: 5, Machines: 4, Oldest: servertest.Written, Newest: servertest.Written.Add(time.Hour),
			Parts: []estimate.Part{{Benchmark: "coremark", Version: "1", Ratio: 22207.0 / 20482, Weight: 1, Samples: 5, Machines: 4, BaselineSamples: 6, BaselineMachines: 3}},
			Models: []estimate.Model{
				{CPUModel: "Intel-6-207", Ratio: 1.08, Machines: 4},
			},
		},
		{NodeType: "n4@Intel-6-207", Baseline: "n2d", Ratio: 1.08, Interval: &estimate.Interval{Low: 1.07, High: 1.09}, Samples: 5, Machines: 4},
		{NodeType: "t2d", Baseline: "n2d", Ratio: 1.456},
	}
	return v
}

// halved returns a layer in a unit of twice the size, in which n4 has its own memory
// performance.
func halved() *ratios.Layer {
	return &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 0.5, MemoryPerf: 1}, "n4": {CPUPerf: 0.625, MemoryPerf: 2}}}
}

func TestListSuggestions(t *testing.T) {
	v := published()
	moving := pace.State{Baseline: "n2d", Ratio: 1.02, Judged: servertest.Written, Confirmed: 2, Direction: 1, Moving: true, Changed: servertest.Written.Add(-time.Hour)}
	v.Progress = map[string]measured.Progress{"n4": {State: moving, Target: 22207.0 / 20482, Next: servertest.Written.Add(time.Hour)}}
	p := servertest.StartShop(t, servertest.Setup{Ratios: ratios.Update{Layer: halved()}})
	r := serve(t, p, &servertest.Measured{Known: v}, serving{})
	got, err := r.ListSuggestions(t.Context(), &workloadresizerv1.ListSuggestionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	const observe = workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE
	want := &workloadresizerv1.ListSuggestionsResponse{BaselineNodeType: "n2d", Suggestions: []*workloadresizerv1.Suggestion{
		{NodeType: "c3", BaselineNodeType: "n2d", Samples: 1, Machines: 1, Mode: observe, Holds: []*workloadresizerv1.SuggestionHold{{Code: "TooFewBenchmarks", Message: "0 benchmarks, 2 are needed"}}},
		{
			NodeType: "n4", BaselineNodeType: "n2d", Ratio: new(22207.0 / 20482), Interval: &workloadresizerv1.RatioInterval{Low: 1.07, High: 1.1, Confidence: 0.95},
			CpuPerf: new(0.5421), MemoryPerf: new(2.0), // 0.5 times the ratio, to four digits.
			Current: &workloadresizerv1.Ratio{NodeType: "n4", CpuPerf: 0.625, MemoryPerf: 2, CpuFactor: 0.8, MemoryFactor: 0.5, Provenance: &workloadresizerv1.Provenance{},
				Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: 0.625, MemoryPerf: 2, Provenance: &workloadresizerv1.Provenance{}}}},
			Parts:   []*workloadresizerv1.SuggestionPart{{Benchmark: "coremark", Version: "1", Ratio: 22207.0 / 20482, Weight: 1, Samples: 5, Machines: 4, BaselineSamples: 6, BaselineMachines: 3}},
			Models:  []*workloadresizerv1.SuggestionModel{{CpuModel: "Intel-6-207", Ratio: new(1.08), Machines: 4}},
			Samples: 5, Machines: 4, OldestTime: timestamppb.New(servertest.Written), NewestTime: timestamppb.New(servertest.Written.Add(time.Hour)), Mode: observe,
			Progress: &workloadresizerv1.SuggestionProgress{
				Ratio: new(1.02), Target: 22207.0 / 20482, ConfirmedWindows: 2, NeededWindows: 2,
				ChangeTime: timestamppb.New(servertest.Written.Add(-time.Hour)), NextTime: timestamppb.New(servertest.Written.Add(time.Hour)),
			},
		},
		// Until then, the machines have the memory performance of n4.
		{NodeType: "n4@Intel-6-207", BaselineNodeType: "n2d", Ratio: new(1.08), Interval: &workloadresizerv1.RatioInterval{Low: 1.07, High: 1.09, Confidence: 0.95}, CpuPerf: new(0.54), MemoryPerf: new(2.0), Samples: 5, Machines: 4, Mode: observe},
		// Too few scores for an interval.
		{NodeType: "t2d", BaselineNodeType: "n2d", Ratio: new(1.456), CpuPerf: new(0.728), MemoryPerf: new(1.0), Mode: observe},
	}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestSuggestions(t *testing.T) {
	t.Run("returns the impact of accepting a suggestion", returnsTheImpactOfAcceptingASuggestion)
	t.Run("lists suggestions in pages", listsSuggestionsInPages)
	t.Run("returns why there is no suggestion", returnsWhyThereIsNoSuggestion)
	t.Run("a suggestion takes a preview slot", aSuggestionTakesAPreviewSlot)
}

func returnsTheImpactOfAcceptingASuggestion(t *testing.T) {
	get := func(client workloadresizerv1.BenchmarkServiceClient, nodeType string) *workloadresizerv1.GetSuggestionResponse {
		t.Helper()
		got, err := client.GetSuggestion(t.Context(), &workloadresizerv1.GetSuggestionRequest{NodeType: nodeType})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	// Two pods on n4 have requests of 800m now, and would have 923m: 1 / 1.084.
	group := func(name string, pods int64, cpu string) *workloadresizerv1.ImpactGroup {
		return &workloadresizerv1.ImpactGroup{Name: name, Pods: pods, RequestDelta: map[string]string{"cpu": cpu}}
	}
	want := &workloadresizerv1.Impact{
		Total: group("", 2, "246m"), NodeTypes: []*workloadresizerv1.ImpactGroup{group("n4", 2, "246m")},
		Namespaces: []*workloadresizerv1.ImpactGroup{group("shop", 1, "123m")}, Incomplete: true,
	}
	client := serve(t, servertest.StartShop(t, servertest.Setup{}), &servertest.Measured{Known: published()}, serving{viewer: servertest.Only("shop")})
	if diff := cmp.Diff(want, get(client, "n4").GetImpact(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if impact := get(client, "t2d").GetImpact(); impact == nil || impact.GetTotal().GetPods() != 0 {
		t.Errorf("impact for a node type without pods: %v", impact)
	}
	if got := get(client, "c3"); got.Impact != nil || got.GetSuggestion().CpuPerf != nil {
		t.Errorf("impact without a ratio to accept: %v", got)
	}
}

func listsSuggestionsInPages(t *testing.T) {
	client := serve(t, servertest.StartShop(t, servertest.Setup{}), &servertest.Measured{Known: published()}, serving{})
	for size, pages := range map[int32]int{0: 1, 3: 2, 4: 1, 1 << 30: 1} {
		var got []string
		n := 0
		for request := (&workloadresizerv1.ListSuggestionsRequest{PageSize: size}); n == 0 || request.PageToken != ""; n++ {
			page, err := client.ListSuggestions(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range page.GetSuggestions() {
				got = append(got, m.GetNodeType())
			}
			if page.GetBaselineNodeType() != "n2d" {
				t.Errorf("the baseline is %q", page.GetBaselineNodeType())
			}
			request.PageToken = page.GetNextPageToken()
		}
		if diff := cmp.Diff([]string{"c3", "n4", "n4@Intel-6-207", "t2d"}, got); diff != "" || n != pages {
			t.Errorf("page_size %d: %d pages\n%s", size, n, diff)
		}
	}
}

func returnsWhyThereIsNoSuggestion(t *testing.T) {
	unread, unbased := &servertest.Measured{Unread: errors.New("samples-3 is not read")}, &servertest.Measured{Known: &judge.View{}}
	for _, tc := range []struct {
		name            string
		of              servertest.Setup
		measured        *servertest.Measured
		code            codes.Code
		reason, message string
		listed          bool
	}{
		{"the source is not used", servertest.Setup{}, nil, codes.FailedPrecondition, "BENCHMARKS_DISABLED", "benchmark", false},
		{"the source has not been read yet", servertest.Setup{}, unread, codes.Unavailable, "BENCHMARKS_NOT_READY", "samples-3", false},
		{"there is no table", servertest.Setup{Ratios: ratios.Update{Err: errors.New("bad text")}}, &servertest.Measured{Known: published()}, codes.Unavailable, "RATIOS_NOT_READY", "bad text", false},
		{"there is no baseline", servertest.Setup{}, unbased, codes.Unavailable, "RATIOS_NOT_READY", "no baseline", false},
		{"pods have not been read yet", servertest.Setup{}, &servertest.Measured{Known: published()}, codes.Unavailable, "CACHE_NOT_READY", "not read yet", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client := serve(t, servertest.Start(t, tc.of), used(tc.measured), serving{})
			_, err := client.GetSuggestion(t.Context(), &workloadresizerv1.GetSuggestionRequest{NodeType: "n4"})
			servertest.CheckError(t, err, tc.code, tc.reason, tc.message)
			_, err = client.ListSuggestions(t.Context(), &workloadresizerv1.ListSuggestionsRequest{})
			if tc.listed && err != nil {
				t.Errorf("the list needs no pods: %v", err)
			}
			if !tc.listed {
				servertest.CheckError(t, err, tc.code, tc.reason, tc.message)
			}
		})
	}
	client := serve(t, servertest.StartShop(t, servertest.Setup{}), &servertest.Measured{Known: published()}, serving{})
	for nodeType, message := range map[string]string{"x9": `neither benchmarks nor production cover node type "x9"`, "n2d": "is the baseline"} {
		_, err := client.GetSuggestion(t.Context(), &workloadresizerv1.GetSuggestionRequest{NodeType: nodeType})
		servertest.CheckError(t, err, codes.NotFound, "NO_SUGGESTION", message)
	}
}

func aSuggestionTakesAPreviewSlot(t *testing.T) {
	v := published()
	slots := limits.NewSlots(1)
	client := serve(t, servertest.StartShop(t, servertest.Setup{}), &servertest.Measured{Known: v}, serving{slots: slots})
	release, err := slots.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.GetSuggestion(t.Context(), &workloadresizerv1.GetSuggestionRequest{NodeType: "n4"})
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "--max-previews")
	release()
	for range 2 {
		if _, err := client.GetSuggestion(t.Context(), &workloadresizerv1.GetSuggestionRequest{NodeType: "n4"}); err != nil {
			t.Error(err)
		}
	}
}
