package cmdtest

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Ratios returns the ratios of three node types, without overrides and rules.
func Ratios() *workloadresizerv1.ListRatiosResponse {
	written := &workloadresizerv1.Provenance{
		Source: "configmap", Author: "kubectl-client-side-apply",
		UpdateTime: timestamppb.New(time.Date(2026, 10, 1, 12, 30, 0, 5e8, time.UTC)),
	}
	ratio := func(nodeType string, cpu, cpuFactor float64, from *workloadresizerv1.Provenance) *workloadresizerv1.Ratio {
		return &workloadresizerv1.Ratio{
			NodeType: nodeType, CpuPerf: cpu, MemoryPerf: 1, CpuFactor: cpuFactor, MemoryFactor: 1, Provenance: from,
			Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: cpu, MemoryPerf: 1, Provenance: from}},
		}
	}
	baseline := ratio("n2d", 1, 1, written)
	baseline.Baseline = true
	return &workloadresizerv1.ListRatiosResponse{
		Ratios: []*workloadresizerv1.Ratio{
			ratio("c3", 1.3, 1/1.3, written), baseline, ratio("n4", 1.25, 0.8, &workloadresizerv1.Provenance{Source: "file"}),
		},
		BaselineNodeType: "n2d",
		Bounds: &workloadresizerv1.Bounds{
			Cpu:    &workloadresizerv1.QuantityRange{Min: "50m", Max: "16"},
			Memory: &workloadresizerv1.QuantityRange{Min: "64Mi"},
		},
		Revision: "4b1f",
		Sources:  []*workloadresizerv1.RatioSource{{Name: "configmap", Healthy: true, LastGoodTime: written.GetUpdateTime()}},
	}
}

func perNodeType(name string, pods int64, cpu, memory string, vetoed int64) *workloadresizerv1.ImpactGroup {
	return &workloadresizerv1.ImpactGroup{Name: name, Pods: pods, RequestDelta: list(cpu, memory), Vetoed: vetoed}
}

// Impact returns what a write of ratios would mean; a part of it is hidden.
func Impact() *workloadresizerv1.Impact {
	return &workloadresizerv1.Impact{
		Total:      perNodeType("", 12, "1500m", "-2Gi", 3),
		NodeTypes:  []*workloadresizerv1.ImpactGroup{perNodeType("c3", 2, "", "-2Gi", 0), perNodeType("n4", 10, "1500m", "", 3)},
		Namespaces: []*workloadresizerv1.ImpactGroup{perNodeType("default", 4, "500m", "", 0), perNodeType("shop", 6, "700m", "-1Gi", 2)},
		Incomplete: true,
		Vetoed: []*workloadresizerv1.VetoedPod{
			{Namespace: "shop", Pod: "cart-0", Node: "node-1", Code: "NodeCapacity", Message: "the node has 200m left,\x1b 400m are needed"},
			{Namespace: "shop", Pod: "cart-1", Node: "node-2", Code: "QuotaExceeded"},
		},
	}
}

// Overridden returns ratios in which n4 is overridden until the next day, with other ratios
// from two sources.
func Overridden() *workloadresizerv1.ListRatiosResponse {
	resp := Ratios()
	for _, ratio := range resp.GetRatios() {
		ratio.Etag = "none-" + ratio.GetNodeType()
	}
	n4 := resp.GetRatios()[2]
	n4.CpuPerf, n4.CpuFactor, n4.Etag = 1.08, 1/1.08, "before"
	n4.ExpireTime = timestamppb.New(Since.Add(24 * time.Hour))
	n4.Provenance = &workloadresizerv1.Provenance{Source: "override", Author: "bob", CredentialId: "JTI=4f2a", UpdateTime: timestamppb.New(Since), Reason: "measured\nhere"}
	n4.Candidates = []*workloadresizerv1.RatioCandidate{
		{CpuPerf: 1.08, MemoryPerf: 1, Provenance: n4.GetProvenance()},
		{CpuPerf: 1.25, MemoryPerf: 1, Provenance: &workloadresizerv1.Provenance{Source: "configmap"}},
		{CpuPerf: 1.1, MemoryPerf: 0.99, Provenance: &workloadresizerv1.Provenance{Source: "benchmark"}},
	}
	return resp
}

// Rules returns a rule that sets everything, and one that sets only some bounds.
func Rules() []*workloadresizerv1.RatioRule {
	from := &workloadresizerv1.Provenance{Source: "configmap"}
	return []*workloadresizerv1.RatioRule{
		{Name: "overrides[0] (critical)", BaselineNodeType: "c3", MaxSpeedRatio: new(8.0), Bounds: Ratios().GetBounds(), Ratios: []*workloadresizerv1.Ratio{
			{NodeType: "c3", CpuPerf: 1.3, MemoryPerf: 1, CpuFactor: 1, MemoryFactor: 1, Baseline: true, Provenance: from},
			{NodeType: "n4", CpuPerf: 1.2, MemoryPerf: 1, CpuFactor: 1.3 / 1.2, MemoryFactor: 1, Provenance: from},
		}},
		{Name: "podLabels.env.test", Bounds: &workloadresizerv1.Bounds{Cpu: &workloadresizerv1.QuantityRange{Min: "0", Max: "8"}}},
	}
}

// Table answers reads of ratios and their rules, of which a page has one.
func Table(table *workloadresizerv1.ListRatiosResponse, rules ...*workloadresizerv1.RatioRule) Script {
	return Scripts(
		Returns(table),
		Pages(1, &workloadresizerv1.ListRatioRulesResponse{Rules: rules, Revision: table.GetRevision()}),
		On(func(req *workloadresizerv1.GetRatioRequest) (*workloadresizerv1.GetRatioResponse, error) {
			ratios := table.GetRatios()
			for _, rule := range rules {
				if rule.GetName() == req.GetRule() {
					ratios = rule.GetRatios()
				}
			}
			for _, ratio := range ratios {
				if ratio.GetNodeType() == req.GetNodeType() {
					return &workloadresizerv1.GetRatioResponse{Ratio: ratio, Revision: table.GetRevision()}, nil
				}
			}
			return nil, WithReason(codes.NotFound, "NODE_TYPE_UNKNOWN", fmt.Sprintf("node type %q has no ratio", req.GetNodeType()))
		}),
	)
}

// RatioEvent is an event that a watch of ratios receives.
type RatioEvent = workloadresizerv1.WatchRatiosResponse

// RatioEvents returns the events of a watch: c3 and n4 exist, and a bookmark follows, which is the first
// event with a token. Then n4 changes, and c3 is deleted.
func RatioEvents() []*RatioEvent {
	all := Overridden().GetRatios()
	return []*RatioEvent{
		{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED, Ratio: all[0], Revision: "1"},
		{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED, Ratio: all[2], Revision: "1"},
		{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK, Revision: "1", ResumeToken: "t3"},
		{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED, Ratio: Ratios().GetRatios()[2], Revision: "2", ResumeToken: "t4"},
		{Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED, Ratio: &workloadresizerv1.Ratio{NodeType: "c3", CpuPerf: 1.3, MemoryPerf: 1}, Revision: "3", ResumeToken: "t5"},
	}
}
