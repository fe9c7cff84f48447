package cmdtest

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
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

// Overrides returns the override of n4 in Overridden.
func Overrides() []*workloadresizerv1.Override {
	return []*workloadresizerv1.Override{
		{NodeType: "n4", CpuPerf: new(1.08), MemoryPerf: new(1.0), ExpireTime: timestamppb.New(Since.Add(24 * time.Hour)), Fallback: fallback(), Etag: "override-n4"},
	}
}

// Changes returns changes of overrides by two users who disagreed, and an expiry.
func Changes() []*workloadresizerv1.OverrideChange {
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
			if ratio := RatioIn(ratios, req.GetNodeType()); ratio != nil {
				return &workloadresizerv1.GetRatioResponse{Ratio: ratio, Revision: table.GetRevision()}, nil
			}
			return nil, WithReason(codes.NotFound, "NODE_TYPE_UNKNOWN", fmt.Sprintf("node type %q has no ratio", req.GetNodeType()))
		}),
	)
}

// RatioIn returns a copy of the ratio of a node type; nil if there is none.
func RatioIn(ratios []*workloadresizerv1.Ratio, nodeType string) *workloadresizerv1.Ratio {
	for _, ratio := range ratios {
		if ratio.GetNodeType() == nodeType {
			return proto.CloneOf(ratio)
		}
	}
	return nil
}

// Updated returns what an override is after an update, the ratio of its node type, and the change.
func Updated(table *workloadresizerv1.ListRatiosResponse, update *workloadresizerv1.UpdateOverrideRequest) (*workloadresizerv1.Override, *workloadresizerv1.Ratio, *workloadresizerv1.OverrideDelta) {
	to := update.GetOverride()
	ratio := RatioIn(table.GetRatios(), to.GetNodeType())
	if ratio == nil {
		ratio = &workloadresizerv1.Ratio{NodeType: to.GetNodeType()}
	}
	for _, field := range update.GetUpdateMask().GetPaths() {
		switch field {
		case "cpu_perf":
			ratio.CpuPerf, ratio.CpuFactor = to.GetCpuPerf(), 1/to.GetCpuPerf()
		case "memory_perf":
			ratio.MemoryPerf, ratio.MemoryFactor = to.GetMemoryPerf(), 1/to.GetMemoryPerf()
		case "expire_time":
			ratio.ExpireTime = to.GetExpireTime()
		}
	}
	ratio.Provenance = &workloadresizerv1.Provenance{Source: "override", Author: "ann", UpdateTime: timestamppb.New(Since)}
	ratio.Candidates, ratio.Etag = nil, "after"
	override := &workloadresizerv1.Override{
		NodeType: ratio.GetNodeType(), CpuPerf: &ratio.CpuPerf, MemoryPerf: &ratio.MemoryPerf, ExpireTime: ratio.GetExpireTime(),
		Author: "ann", UpdateTime: timestamppb.New(Since), Etag: "override-after",
	}
	return override, ratio, &workloadresizerv1.OverrideDelta{NodeType: ratio.GetNodeType(), To: &workloadresizerv1.OverrideValue{
		CpuPerf: ratio.GetCpuPerf(), MemoryPerf: ratio.GetMemoryPerf(), ExpireTime: ratio.GetExpireTime(),
	}}
}

// Writable returns a server whose ratios can be changed.
func Writable() *Server {
	return &Server{Ratios: Overridden(), Rules: Rules(), RatioScript: RatioScript{Overrides: Overrides(), Impact: Impact(), Changes: Changes()}}
}
