package cmdtest

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Production returns what production shows of node types, each in another state; the name of the type says which. The baseline is n2d, and
// the configuration has a ratio of 1.25 for each type but one.
func Production() []*workloadresizerv1.Suggestion {
	written := Ratios().GetRatios()[0].GetProvenance()
	suggestion := func(nodeType string, p *workloadresizerv1.ProductionSuggestion) *workloadresizerv1.Suggestion {
		p.Mode = workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE
		if len(p.GetHolds()) == 0 || p.GetHolds()[0].GetCode() != "NoUsage" {
			p.StartTime, p.EvaluationTime = timestamppb.New(Since.Add(-20*time.Hour)), timestamppb.New(Since)
		}
		current := &workloadresizerv1.Ratio{NodeType: nodeType, CpuPerf: 1.25, MemoryPerf: 1, CpuFactor: 0.8, MemoryFactor: 1, Provenance: written}
		current.Candidates = []*workloadresizerv1.RatioCandidate{{CpuPerf: 1.25, MemoryPerf: 1, Provenance: written}}
		if p.GetCpuPerf() > 0 {
			current.Candidates = append(current.Candidates, &workloadresizerv1.RatioCandidate{
				CpuPerf: p.GetCpuPerf(), MemoryPerf: 1, Provenance: &workloadresizerv1.Provenance{Source: "production", UpdateTime: timestamppb.New(Since)}, Observed: true,
			})
		}
		return &workloadresizerv1.Suggestion{
			NodeType: nodeType, BaselineNodeType: "n2d", Current: current, RatioEtag: "of-" + nodeType,
			Holds: []*workloadresizerv1.SuggestionHold{{Code: "TooFewSamples", Message: "no benchmark covers the node type"}},
			Mode:  workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE, Production: p,
		}
	}
	interval := func(low, high float64) *workloadresizerv1.RatioInterval {
		return &workloadresizerv1.RatioInterval{Low: low, High: high, Confidence: 0.95}
	}
	held := func(code, message string) []*workloadresizerv1.SuggestionHold {
		return []*workloadresizerv1.SuggestionHold{{Code: code, Message: message}}
	}
	contradicts := suggestion("contradicts", &workloadresizerv1.ProductionSuggestion{
		Ratio: new(1.08), CpuPerf: new(1.08), Interval: interval(1.06, 1.1), NextInterval: interval(0.98, 1.19), Workloads: 40, Nodes: 12, Hours: 4400,
		Contradictions: []*workloadresizerv1.RatioContradiction{{Source: "configmap", Ratio: 1.25}, {Source: "benchmark", Ratio: 1.3}},
	})
	contradicts.Ratio, contradicts.CpuPerf, contradicts.MemoryPerf, contradicts.Interval, contradicts.Holds = new(1.3), new(1.3), new(1.0), interval(1.27, 1.33), nil
	contradicts.Samples, contradicts.Machines = 24, 8
	contradicts.OldestTime, contradicts.NewestTime = timestamppb.New(Since), timestamppb.New(Since)
	unnamed := suggestion("unnamed", &workloadresizerv1.ProductionSuggestion{
		Ratio: new(1.4), CpuPerf: new(1.4), Interval: interval(1.37, 1.43), NextInterval: interval(1.2, 1.63), Workloads: 21, Nodes: 5, Hours: 900,
	})
	unnamed.Current = nil
	singles := suggestion("singles", &workloadresizerv1.ProductionSuggestion{
		Ratio: new(1.24), CpuPerf: new(1.24), Interval: interval(1.22, 1.26), NextInterval: interval(1.13, 1.36), Workloads: 42, Nodes: 12, Hours: 3100,
	})
	single := func(namespace, name string, ratio float64, change func(*workloadresizerv1.WorkloadRatio)) {
		w := &workloadresizerv1.WorkloadRatio{
			Namespace: namespace, Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: name}, Ratio: ratio, Interval: interval(ratio-0.0625, ratio+0.0625),
			CpuPerf: new(ratio), MemoryPerf: new(1.0), CurrentCpuPerf: new(1.25),
		}
		change(w)
		singles.Production.WorkloadRatios = append(singles.Production.WorkloadRatios, w)
	}
	single("shop", "web", 1.5, func(w *workloadresizerv1.WorkloadRatio) {
		w.PodLabels = map[string]string{"app.kubernetes.io/name": "web"}
	})
	single("bank", "ledger", 1.125, func(w *workloadresizerv1.WorkloadRatio) { w.WholeNamespace = true })
	single("shop", "cart", 1.375, func(*workloadresizerv1.WorkloadRatio) {})
	single("shop", "search", 1.0, func(w *workloadresizerv1.WorkloadRatio) {
		w.PodLabels, w.Rule = map[string]string{"app": "true"}, "podLabels.env.test"
	})
	single("shop", "mail", 1.4375, func(w *workloadresizerv1.WorkloadRatio) {
		w.PodLabels, w.Rule, w.CurrentCpuPerf = map[string]string{"app": "mail"}, "overrides[0] (Deployment mail in shop)", new(1.4)
	})
	return []*workloadresizerv1.Suggestion{
		contradicts,
		suggestion("first-day", &workloadresizerv1.ProductionSuggestion{
			HeldWorkloads: map[string]int64{"TooFewHours": 14, "LoadSteady": 1},
			Holds:         held("NotCompared", "14 workloads run on this node type and on another one for too few hours so far: a workload counts after about 24 hours with much load, which take about 3 days"),
		}),
		suggestion("good", &workloadresizerv1.ProductionSuggestion{
			Ratio: new(1.24), CpuPerf: new(1.24), Interval: interval(1.22, 1.26), NextInterval: interval(1.13, 1.36), Workloads: 42, Nodes: 12, Hours: 3100,
			HeldWorkloads: map[string]int64{"Pulls": 2, "SlopeFalls": 1, "TooFewHours": 5, "FromANewerServer\x1b[31m": 3},
		}),
		suggestion("held-back", &workloadresizerv1.ProductionSuggestion{
			Ratio: new(1.2), CpuPerf: new(1.2), Interval: interval(1.05, 1.37), NextInterval: interval(0.9, 1.6), Workloads: 1, Nodes: 2, Hours: 60,
			Holds: append(held("TooFewNodes", "replicas on 2 nodes of the node type and 2 of the baseline were compared: at least 3 of each are needed"),
				held("IntervalTooWide", "the ratio is known to ±14.2%, but ±3.0% is needed: that takes about 23 workloads on about 45 nodes of each type, or more days")...),
		}),
		suggestion("no-usage", &workloadresizerv1.ProductionSuggestion{Holds: held("NoUsage", "the server collects no usage, so that nothing can be compared: start it with a source in --usage-sources, such as metrics")}),
		singles,
		unnamed,
	}
}
