package usage

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// sizeRules returns how sizes follow from the recommendation of an item.
func sizeRules(i *demand.Item) *workloadresizerv1.SizeRules {
	d := i.Demand
	rules := &workloadresizerv1.SizeRules{CpuLimit: d.CPU.Limit, MemoryLimit: d.Memory.Limit}
	switch d.Memory.Limit {
	case "multiple":
		rules.MemoryLimitMultiple, rules.MemoryLimitHeadroom = d.Memory.Multiple, sizing.MemoryText(d.Memory.Headroom)
	case "peak":
		rules.MemoryLimitMultiple = d.Memory.Multiple
	}
	grown := func(m *sizing.Measure, authored int64) int64 {
		return int64(min(float64(authored)*d.MaxGrowth, float64(m.Most)))
	}
	cpu, memory := i.MostAuthored.CPU, i.MostAuthored.Memory
	rules.MinRequests = known(recommend.Amounts{CPU: i.Bounds.CPU.Min, Memory: i.Bounds.Memory.Min})
	rules.MaxRequests = known(recommend.Amounts{
		CPU: least(i.Bounds.CPU.Max, grown(sizing.CPU, cpu.Request)), Memory: least(i.Bounds.Memory.Max, grown(sizing.Memory, memory.Request)),
	})
	rules.MaxLimits = known(recommend.Amounts{CPU: grown(sizing.CPU, cpu.Limit), Memory: grown(sizing.Memory, memory.Limit)})
	return rules
}

// least returns the smaller one of two maximums, of which 0 is none.
func least(a, b int64) int64 {
	if a == 0 || 0 < b && b < a {
		return b
	}
	return a
}
