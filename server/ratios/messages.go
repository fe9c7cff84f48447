package ratios

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// ratioRule returns what a rule sets, and which node types are not used because of that.
func ratioRule(globals, p *ratios.Profile) *workloadresizerv1.RatioRule {
	rule := p.Rule()
	m := &workloadresizerv1.RatioRule{Name: p.Name, BaselineNodeType: rule.Baseline, Bounds: boundsOverride(&rule.Settings), MaxSpeedRatio: values.Known(rule.MaxSpeedRatio), DemandMode: values.DemandMode(&p.Demand)}
	if rule.Settings.Sets("demand.mode") { // One of the globals is theirs.
		m.UnusedDemandMode = values.UnusedDemandMode(&p.Demand)
	}
	for _, nodeType := range slices.Sorted(maps.Keys(rule.Ratios)) {
		entry, _ := p.Lookup(nodeType)
		m.Ratios = append(m.Ratios, Message(p.Baseline, entry))
	}
	for _, nodeType := range p.NodeTypes() {
		entry, _ := p.Lookup(nodeType)
		if entry.Unused == "" {
			continue
		}
		if global, ok := globals.Lookup(nodeType); ok && global.Unused == entry.Unused {
			continue
		}
		if m.Implausible == nil {
			m.Implausible = map[string]string{}
		}
		m.Implausible[nodeType] = entry.Unused
	}
	return m
}

// Message returns the ratio of a node type, where requests are written for the baseline. It has no etag.
func Message(baseline string, entry *ratios.Entry) *workloadresizerv1.Ratio {
	r := &workloadresizerv1.Ratio{
		NodeType:     entry.NodeType,
		CpuPerf:      entry.Ratio.CPUPerf,
		MemoryPerf:   entry.Ratio.MemoryPerf,
		CpuFactor:    entry.CPUFactor.Float64(),
		MemoryFactor: entry.MemoryFactor.Float64(),
		Baseline:     entry.NodeType == baseline,
		Provenance:   provenance(entry.Ratio.Provenance),
		ExpireTime:   values.Timestamp(entry.Ratio.ExpireTime),
		Implausible:  entry.Unused,
	}
	for _, c := range entry.Candidates {
		r.Candidates = append(r.Candidates, &workloadresizerv1.RatioCandidate{
			CpuPerf: c.CPUPerf, MemoryPerf: c.MemoryPerf, Provenance: provenance(c.Provenance),
		})
	}
	for _, c := range entry.Observed {
		r.Candidates = append(r.Candidates, &workloadresizerv1.RatioCandidate{
			CpuPerf: c.CPUPerf, MemoryPerf: c.MemoryPerf, Provenance: provenance(c.Provenance), Observed: true,
		})
	}
	return r
}

func provenance(p ratios.Provenance) *workloadresizerv1.Provenance {
	return &workloadresizerv1.Provenance{Source: p.Source, UpdateTime: values.Timestamp(p.UpdateTime), Author: p.Author, CredentialId: p.CredentialID, Reason: p.Reason}
}

// Bounds returns the message of bounds.
func Bounds(b policy.Bounds) *workloadresizerv1.Bounds {
	return &workloadresizerv1.Bounds{
		Cpu:    quantityRange(b.CPU, sizing.CPUText),
		Memory: quantityRange(b.Memory, sizing.MemoryText),
	}
}

func quantityRange(r sizing.Range, text func(int64) string) *workloadresizerv1.QuantityRange {
	out := &workloadresizerv1.QuantityRange{}
	if r.Min != 0 {
		out.Min = text(r.Min)
	}
	if r.Max != 0 {
		out.Max = text(r.Max)
	}
	return out
}

// boundsOverride returns the ends that a rule replaces; nil if it replaces none.
func boundsOverride(s *keys.Partial[policy.Settings]) *workloadresizerv1.Bounds {
	if !s.Sets("bounds") {
		return nil
	}
	return &workloadresizerv1.Bounds{
		Cpu:    rangeOverride(s, "bounds.cpu", s.Values.Bounds.CPU, sizing.CPUText),
		Memory: rangeOverride(s, "bounds.memory", s.Values.Bounds.Memory, sizing.MemoryText),
	}
}

func rangeOverride(s *keys.Partial[policy.Settings], key string, r sizing.Range, text func(int64) string) *workloadresizerv1.QuantityRange {
	if !s.Sets(key) {
		return nil
	}
	out := &workloadresizerv1.QuantityRange{}
	if s.Sets(key + ".min") {
		out.Min = text(r.Min)
	}
	if s.Sets(key + ".max") {
		out.Max = text(r.Max)
	}
	return out
}
