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
		Total:            perNodeType("", 12, "1500m", "-2Gi", 3),
		NodeTypes:        []*workloadresizerv1.ImpactGroup{perNodeType("c3", 2, "", "-2Gi", 0), perNodeType("n4", 10, "1500m", "", 3)},
		Namespaces:       []*workloadresizerv1.ImpactGroup{perNodeType("default", 4, "500m", "", 0), perNodeType("shop", 6, "700m", "-1Gi", 2)},
		HiddenNamespaces: 1,
		Vetoed: []*workloadresizerv1.VetoedPod{
			{Namespace: "shop", Pod: "cart-0", Node: "node-1", Code: "NodeCapacity", Message: "the node has 200m left,\x1b 400m are needed"},
			{Namespace: "shop", Pod: "cart-1", Node: "node-2", Code: "QuotaExceeded"},
		},
	}
}

// Overridden returns ratios in which n4 is overridden until the next day, with other ratios
// from two sources, and rules for some pods.
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
	c3 := &workloadresizerv1.Ratio{NodeType: "c3", CpuPerf: 1.3, MemoryPerf: 1, CpuFactor: 1, MemoryFactor: 1, Baseline: true, Provenance: &workloadresizerv1.Provenance{Source: "configmap"}}
	resp.Rules = []*workloadresizerv1.RatioRule{
		{Name: "overrides[0] (critical)", BaselineNodeType: "c3", Bounds: resp.GetBounds(), Ratios: []*workloadresizerv1.Ratio{
			c3, {NodeType: "n4", CpuPerf: 1.2, MemoryPerf: 1, CpuFactor: 1.3 / 1.2, MemoryFactor: 1, Provenance: &workloadresizerv1.Provenance{Source: "configmap"}},
		}},
		{Name: "podLabels.env.test", BaselineNodeType: "c3", Ratios: []*workloadresizerv1.Ratio{c3}},
	}
	return resp
}

// history returns changes by two users who disagreed.
func history() []*workloadresizerv1.RatioChange {
	first := &workloadresizerv1.RatioOverride{CpuPerf: 1.1, MemoryPerf: 1}
	second := &workloadresizerv1.RatioOverride{CpuPerf: 1.08, MemoryPerf: 1, ExpireTime: timestamppb.New(Since.Add(24 * time.Hour))}
	back := int64(1)
	return []*workloadresizerv1.RatioChange{
		{Number: 3, CreateTime: timestamppb.New(Since.Add(2 * time.Hour)), Author: "ann", RollbackTo: &back, Deltas: []*workloadresizerv1.RatioDelta{
			{NodeType: "c3", From: &workloadresizerv1.RatioOverride{CpuPerf: 1.4, MemoryPerf: 0.9}}, {NodeType: "n4", From: second, To: first},
		}},
		{Number: 2, CreateTime: timestamppb.New(Since.Add(time.Hour)), Author: "bob", CredentialId: "JTI=4f2a", Reason: "measured\nhere", Deltas: []*workloadresizerv1.RatioDelta{
			{NodeType: "c3", To: &workloadresizerv1.RatioOverride{CpuPerf: 1.4, MemoryPerf: 0.9}}, {NodeType: "n4", From: first, To: second},
		}},
		{Number: 1, CreateTime: timestamppb.New(Since), Author: "ann", Reason: "as measured", Deltas: []*workloadresizerv1.RatioDelta{{NodeType: "n4", To: first}}},
	}
}

// Writable returns a server whose ratios can be changed.
func Writable() *Server {
	return &Server{Ratios: Overridden(), RatioScript: RatioScript{Impact: Impact(), Changes: history()}}
}
