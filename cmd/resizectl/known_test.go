package main

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// known answers every read with something to print.
func known() cmdtest.Script {
	var changes []*workloadresizerv1.OverrideChange
	for _, number := range []int64{4, 3, 2, 1} {
		changes = append(changes, &workloadresizerv1.OverrideChange{Number: &number, Deltas: []*workloadresizerv1.OverrideDelta{{NodeType: "n4", To: &workloadresizerv1.OverrideValue{CpuPerf: 1.1, MemoryPerf: 1}}}})
	}
	resizes := []*workloadresizerv1.Resize{
		cmdtest.Sized("default", "api-0", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, ""),
		cmdtest.Sized("default", "api-1", workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED, ""),
		cmdtest.Sized("shop", "cart-0", workloadresizerv1.ResizeState_RESIZE_STATE_INFEASIBLE, ""),
	}
	return cmdtest.Scripts(
		cmdtest.EachDecision(),
		cmdtest.Table(cmdtest.Ratios(), cmdtest.Rules()...),
		cmdtest.Pages(2, &workloadresizerv1.ListOverrideChangesResponse{Changes: changes}),
		cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{Holds: cmdtest.Held()}),
		cmdtest.Pages(2, &workloadresizerv1.ListResizesResponse{Resizes: resizes}),
		cmdtest.Returns(&workloadresizerv1.GetResizeResponse{Resize: resizes[0]}),
		cmdtest.Returns(&workloadresizerv1.GetStatusResponse{Version: "v1.2.3"}),
		cmdtest.Returns(&workloadresizerv1.PreviewManifestResponse{Objects: []*workloadresizerv1.ManifestPlan{
			{Kind: "Deployment", Name: "web", Plans: []*workloadresizerv1.Plan{cmdtest.Web()}}, {Kind: "Pod", Name: "bare", Plans: []*workloadresizerv1.Plan{cmdtest.Bare()}},
		}}),
		knownBenchmarks(), knownUsage(), knownCluster(), knownHistory(),
	)
}

// knownBenchmarks answers with suggestions of each kind: none, one that is held back, and two good ones.
func knownBenchmarks() cmdtest.Script {
	suggestions := []*workloadresizerv1.Suggestion{
		{NodeType: "c3", Holds: []*workloadresizerv1.SuggestionHold{{Code: "TooFewBenchmarks", Message: "no benchmark was run on both, 2 are needed"}}},
		{NodeType: "e2", Ratio: new(0.8), Holds: []*workloadresizerv1.SuggestionHold{
			{Code: "ModelsDiffer", Message: "Intel-6-79 has 0.4,\x1b[31m AMD-23-49 has 1.1"},
			{Code: "TooFewMachines", Message: "1 machine of e2, 2 are needed"},
			{Code: "TooFewMachines", Message: "1 machine of baseline n2d, 2 are needed"},
		}},
		{NodeType: "n4", Ratio: new(1.125)},
		{NodeType: "n4@Intel-6-207", Ratio: new(1.13)},
	}
	for _, s := range suggestions {
		s.BaselineNodeType, s.CpuPerf, s.MemoryPerf = "n2d", s.Ratio, new(1.0)
	}
	return cmdtest.Scripts(
		cmdtest.Pages(2, &workloadresizerv1.ListBenchmarksResponse{Benchmarks: []*workloadresizerv1.Benchmark{
			{NodeType: "e2", Benchmark: "coremark", Samples: 1}, {NodeType: "n2d", Benchmark: "coremark", Samples: 120}, {NodeType: "n4", Benchmark: "bench-node:memory-bandwidth", Samples: 6},
		}}),
		cmdtest.Returns(&workloadresizerv1.ListFeedsResponse{Feeds: []*workloadresizerv1.Feed{{Name: "coremark-table"}, {Name: "lab"}, {Name: "nightly"}, {Name: "passmark-scores"}}}),
		cmdtest.Returns(&workloadresizerv1.ListSuggestionsResponse{Suggestions: suggestions, BaselineNodeType: "n2d"}),
		cmdtest.On(func(req *workloadresizerv1.GetSuggestionRequest) (*workloadresizerv1.GetSuggestionResponse, error) {
			for _, s := range suggestions {
				if s.GetNodeType() == req.GetNodeType() {
					return &workloadresizerv1.GetSuggestionResponse{Suggestion: s}, nil
				}
			}
			return nil, status.Errorf(codes.NotFound, "no benchmark covers %q", req.GetNodeType())
		}),
	)
}

// knownUsage answers with a Deployment that needs less than it requests, and StatefulSets of which one
// needs more, and of the other nothing is known.
func knownUsage() cmdtest.Script {
	web, cart, db := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}, &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "cart"}, &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "db"}
	cores := func(cpu string) *workloadresizerv1.ResourceAmounts {
		return &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: "1Gi"}
	}
	sums := func(authored, recommended string) *workloadresizerv1.UsageSums {
		return &workloadresizerv1.UsageSums{Pods: 1, Authored: cores(authored), Requested: cores(authored), Compared: cores(authored), Used: cores("1"), Recommended: cores(recommended)}
	}
	recommendations := []*workloadresizerv1.Recommendation{
		{Namespace: "default", Workload: web, Container: "app", Sums: sums("3", "1")},
		{Namespace: "shop", Workload: cart, Container: "cart", Sums: &workloadresizerv1.UsageSums{Pods: 1, UnknownPods: 1, Authored: cores("2"), Requested: cores("2")}},
		{Namespace: "shop", Workload: db, Container: "db", Sums: sums("1", "2")},
	}
	savings := func(namespace string, of *workloadresizerv1.Workload, saved string) *workloadresizerv1.Savings {
		return &workloadresizerv1.Savings{Namespace: namespace, Workload: of, Pods: 1, Authored: cores("2"), Requested: cores("1"), Saved: cores(saved), Measured: cores("1"), Used: cores("1")}
	}
	return cmdtest.Scripts(
		cmdtest.Pages(2, &workloadresizerv1.ListRecommendationsResponse{Recommendations: recommendations}),
		cmdtest.Pages(2, &workloadresizerv1.ListSavingsResponse{Savings: []*workloadresizerv1.Savings{savings("default", web, "1"), savings("shop", cart, "0"), savings("shop", db, "-1"), savings("shop", nil, "0")}}),
		cmdtest.Returns(&workloadresizerv1.GetRecommendationResponse{Containers: []*workloadresizerv1.ExplainedRecommendation{{Recommendation: recommendations[0]}}}),
		cmdtest.Returns(&workloadresizerv1.GetUsageHistoryResponse{Workload: web, NodeTypes: []*workloadresizerv1.NodeTypeHistory{{NodeType: "n4", Memory: []*workloadresizerv1.UsageBucket{{To: 1 << 20, Share: 1}}}}}),
		cmdtest.Returns(&workloadresizerv1.GetUsageStatusResponse{Sources: []*workloadresizerv1.UsageSource{{Name: "push"}, {Name: "metrics.k8s.io"}, {Name: "prometheus"}}}),
	)
}

// knownHistory answers with a revert, a gap and resizes.
func knownHistory() cmdtest.Script {
	web := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
	return cmdtest.Pages(2, &workloadresizerv1.ListEntriesResponse{Entries: []*workloadresizerv1.JournalEntry{
		{Kind: workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT, Namespace: "default", Workload: web, Pod: "web-x", Message: "out of memory"},
		{Kind: workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP, Reason: "NotRecorded"},
		{Kind: workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_RESIZE, Namespace: "default", Workload: web, Count: 3, Pods: 2},
	}})
}

// knownCluster answers with workloads whose usage is known, and with nodes.
func knownCluster() cmdtest.Script {
	amounts := func(cpu string) *workloadresizerv1.ResourceAmounts {
		return &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: "1Gi"}
	}
	workload := func(kind, name, saved string, pods int64, codes ...string) *workloadresizerv1.WorkloadSummary {
		w := &workloadresizerv1.WorkloadSummary{Recommended: amounts("1"), Savings: &workloadresizerv1.Savings{
			Namespace: "default", Workload: &workloadresizerv1.Workload{Kind: kind, Name: name}, Pods: pods, Authored: amounts("2"), Requested: amounts("1"), Saved: amounts(saved), Used: amounts("1"),
		}}
		for _, code := range codes {
			w.Pods = append(w.Pods, &workloadresizerv1.PodCount{Decision: workloadresizerv1.Decision_DECISION_ALIGNED, Code: code, Pods: 1})
		}
		return w
	}
	node := func(name, requested string) *workloadresizerv1.NodeSummary {
		return &workloadresizerv1.NodeSummary{Name: name, NodeType: "n4", Resources: map[string]*workloadresizerv1.NodeShare{"cpu": {Allocatable: "4", Requested: requested}}}
	}
	return cmdtest.Scripts(
		cmdtest.Pages(1, &workloadresizerv1.ListWorkloadsResponse{Workloads: []*workloadresizerv1.WorkloadSummary{
			workload("Deployment", "web", "1", 2, "AlreadyAligned", "NotOwned"), workload("StatefulSet", "db", "-1", 1),
		}}),
		cmdtest.Pages(1, &workloadresizerv1.ListNodesResponse{Nodes: []*workloadresizerv1.NodeSummary{node("node-10", "3"), node("node-2", "900m")}}),
	)
}

// written answers every write, also one that only validates, with what was changed: the ratio of n4 is 1.2.
func written() cmdtest.Script {
	override, ratio := &workloadresizerv1.Override{NodeType: "n4", CpuPerf: new(1.2)}, cmdtest.Overridden().GetRatios()[2]
	ratio.CpuPerf, ratio.CpuFactor = 1.2, 1/1.2
	change := &workloadresizerv1.OverrideChange{Deltas: []*workloadresizerv1.OverrideDelta{{NodeType: "n4", To: &workloadresizerv1.OverrideValue{CpuPerf: 1.2, MemoryPerf: 1}}}}
	restore := cmdtest.Stored(workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, cmdtest.Shop, "", nil)
	pause := cmdtest.Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, cmdtest.Shop, "", nil)
	return cmdtest.Scripts(
		cmdtest.Returns(&workloadresizerv1.BatchUpdateOverridesResponse{
			Overrides: []*workloadresizerv1.Override{override}, Ratios: []*workloadresizerv1.Ratio{ratio}, Impact: cmdtest.Impact(), Change: change,
		}),
		cmdtest.Returns(&workloadresizerv1.UpdateOverrideResponse{Override: override, Ratio: ratio, Impact: cmdtest.Impact(), Change: change}),
		cmdtest.Returns(&workloadresizerv1.DeleteOverrideResponse{Impact: cmdtest.Impact(), Change: change}),
		cmdtest.Returns(&workloadresizerv1.RollbackOverridesResponse{Impact: cmdtest.Impact(), Change: change}),
		cmdtest.Returns(&workloadresizerv1.IngestSamplesResponse{Stored: 4}),
		cmdtest.Returns(&workloadresizerv1.RestoreResponse{Hold: restore}),
		cmdtest.Returns(&workloadresizerv1.PauseResponse{Hold: pause}),
		cmdtest.Returns(&workloadresizerv1.ResumeResponse{Released: []*workloadresizerv1.Hold{pause}}),
		cmdtest.Returns(&workloadresizerv1.FreezeResponse{Freeze: &workloadresizerv1.Freeze{}}),
		cmdtest.Returns(&workloadresizerv1.UnfreezeResponse{Released: &workloadresizerv1.Freeze{}}),
	)
}
