package ratios

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// globalRatio returns the global ratio of a node type, nil if there is none. It has an etag
// if there can be overrides.
func globalRatio(table *ratios.Table, nodeType string, overridable bool) *workloadresizerv1.Ratio {
	entry, ok := table.Lookup(nodeType)
	if !ok {
		return nil
	}
	r := ratio(table.Baseline, entry)
	if !overridable {
		return r
	}
	o := override.Of(entry.Candidates)
	r.Etag = override.Etag(nodeType, o)
	if o != nil {
		r.ExpireTime = translate.Timestamp(o.ExpireTime)
	}
	return r
}

func ratioRule(p *ratios.Profile) *workloadresizerv1.RatioRule {
	rule := &workloadresizerv1.RatioRule{Name: p.Name, BaselineNodeType: p.Baseline, Bounds: bounds(p.Bounds), MaxSpeedRatio: p.MaxSpeedRatio}
	for _, nodeType := range p.NodeTypes() {
		entry, _ := p.Lookup(nodeType)
		rule.Ratios = append(rule.Ratios, ratio(p.Baseline, entry))
	}
	return rule
}

func ratio(baseline string, entry *ratios.Entry) *workloadresizerv1.Ratio {
	r := &workloadresizerv1.Ratio{
		NodeType:     entry.NodeType,
		CpuPerf:      entry.Ratio.CPUPerf,
		MemoryPerf:   entry.Ratio.MemoryPerf,
		CpuFactor:    entry.CPUFactor.Float64(),
		MemoryFactor: entry.MemoryFactor.Float64(),
		Baseline:     entry.NodeType == baseline,
		Provenance:   provenance(entry.Ratio.Provenance),
		Implausible:  entry.Unused,
	}
	for _, c := range entry.Candidates {
		r.Candidates = append(r.Candidates, &workloadresizerv1.RatioCandidate{
			CpuPerf: c.CPUPerf, MemoryPerf: c.MemoryPerf, Provenance: provenance(c.Provenance),
		})
	}
	return r
}

func provenance(p ratios.Provenance) *workloadresizerv1.Provenance {
	return &workloadresizerv1.Provenance{Source: p.Source, UpdateTime: translate.Timestamp(p.UpdateTime), Author: p.Author, CredentialId: p.CredentialID, Reason: p.Reason}
}

func ratioChange(c *override.Change) *workloadresizerv1.RatioChange {
	if c == nil {
		return nil
	}
	change := &workloadresizerv1.RatioChange{Number: c.Number, CreateTime: translate.Timestamp(c.Time), Author: c.Author, CredentialId: c.CredentialID, Reason: c.Reason, RollbackTo: c.RollbackTo}
	for _, d := range c.Deltas {
		change.Deltas = append(change.Deltas, &workloadresizerv1.RatioDelta{NodeType: d.NodeType, From: ratioOverride(d.From), To: ratioOverride(d.To)})
	}
	return change
}

func ratioOverride(v *override.Value) *workloadresizerv1.RatioOverride {
	if v == nil {
		return nil
	}
	return &workloadresizerv1.RatioOverride{CpuPerf: v.CPUPerf, MemoryPerf: v.MemoryPerf, ExpireTime: translate.Timestamp(v.ExpireTime)}
}

func bounds(b ratios.Bounds) *workloadresizerv1.Bounds {
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
