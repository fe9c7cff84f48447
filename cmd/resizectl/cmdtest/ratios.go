package cmdtest

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

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

// fallback is the permanent override that the temporary one of n4 falls back to.
func fallback() *workloadresizerv1.OverrideValue {
	return &workloadresizerv1.OverrideValue{CpuPerf: 1.1, MemoryPerf: 1}
}

// overrides returns the override of n4 in Overridden.
func overrides() []*workloadresizerv1.Override {
	return []*workloadresizerv1.Override{
		{NodeType: "n4", CpuPerf: new(1.08), MemoryPerf: new(1.0), ExpireTime: timestamppb.New(Since.Add(24 * time.Hour)), Fallback: fallback(), Etag: "override-n4"},
	}
}

// history returns changes by two users who disagreed, and an expiry.
func history() []*workloadresizerv1.OverrideChange {
	first := fallback()
	second := &workloadresizerv1.OverrideValue{CpuPerf: 1.08, MemoryPerf: 1, ExpireTime: timestamppb.New(Since.Add(24 * time.Hour)), Fallback: fallback()}
	ended := &workloadresizerv1.OverrideValue{CpuPerf: 1.4, MemoryPerf: 0.9, ExpireTime: timestamppb.New(Since.Add(3 * time.Hour))}
	return []*workloadresizerv1.OverrideChange{
		{Number: new(int64(4)), CreateTime: ended.GetExpireTime(), Expiry: true, Deltas: []*workloadresizerv1.OverrideDelta{{NodeType: "e2", From: ended}}},
		{Number: new(int64(3)), CreateTime: timestamppb.New(Since.Add(2 * time.Hour)), Author: "ann", RollbackTo: new(int64(1)), Deltas: []*workloadresizerv1.OverrideDelta{
			{NodeType: "c3", From: &workloadresizerv1.OverrideValue{CpuPerf: 1.4, MemoryPerf: 0.9}}, {NodeType: "n4", From: second, To: first},
		}},
		{Number: new(int64(2)), CreateTime: timestamppb.New(Since.Add(time.Hour)), Author: "bob", CredentialId: "JTI=4f2a", Reason: "measured\nhere", Deltas: []*workloadresizerv1.OverrideDelta{
			{NodeType: "c3", To: &workloadresizerv1.OverrideValue{CpuPerf: 1.4, MemoryPerf: 0.9}}, {NodeType: "n4", From: first, To: second},
		}},
		{Number: new(int64(1)), CreateTime: timestamppb.New(Since), Author: "ann", Reason: "as measured", Deltas: []*workloadresizerv1.OverrideDelta{{NodeType: "n4", To: first}}},
	}
}

// Writable returns a server whose ratios can be changed.
func Writable() *Server {
	return &Server{Ratios: Overridden(), Rules: Rules(), RatioScript: RatioScript{Overrides: overrides(), Impact: Impact(), Changes: history()}}
}
