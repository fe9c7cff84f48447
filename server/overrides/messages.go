package overrides

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/values"
)

func message(nodeType string, o override.Override) *workloadresizerv1.Override {
	p := o.Provenance
	m := &workloadresizerv1.Override{
		NodeType: nodeType, CpuPerf: &o.CPUPerf, MemoryPerf: &o.MemoryPerf, ExpireTime: values.Timestamp(o.ExpireTime),
		UpdateTime: values.Timestamp(p.UpdateTime), Author: p.Author, CredentialId: p.CredentialID, Reason: p.Reason,
		Etag: override.Etag(nodeType, &o),
	}
	if o.Fallback != nil {
		m.Fallback = &workloadresizerv1.OverrideValue{CpuPerf: o.Fallback.CPUPerf, MemoryPerf: o.Fallback.MemoryPerf}
	}
	return m
}

func changeMessage(c *override.Change) *workloadresizerv1.OverrideChange {
	if c == nil {
		return nil
	}
	change := &workloadresizerv1.OverrideChange{
		CreateTime: values.Timestamp(c.Time), Author: c.Author, CredentialId: c.CredentialID, Reason: c.Reason,
		RollbackTo: c.RollbackTo, Expiry: c.Expiry, RequestId: c.RequestID,
	}
	if c.Number != 0 {
		change.Number = &c.Number
	}
	for _, d := range c.Deltas {
		change.Deltas = append(change.Deltas, &workloadresizerv1.OverrideDelta{NodeType: d.NodeType, From: valueMessage(d.From), To: valueMessage(d.To)})
	}
	return change
}

func valueMessage(v *override.Value) *workloadresizerv1.OverrideValue {
	if v == nil {
		return nil
	}
	return &workloadresizerv1.OverrideValue{CpuPerf: v.CPUPerf, MemoryPerf: v.MemoryPerf, ExpireTime: values.Timestamp(v.ExpireTime), Fallback: valueMessage(v.Fallback)}
}
