package demand

import (
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// optionsOf returns the options of a container. guaranteed means that its limits must equal its
// requests, so that they follow whatever is configured, and containers is how many containers share the
// floor of the pod.
func optionsOf(d *policy.Demand, name string, guaranteed bool, containers int) usage.Options {
	o := usage.Options{History: history.DefaultOptions(), Recommend: recommend.DefaultOptions(), Containers: containers}
	if guaranteed || d.Memory.Limit == followLimit {
		o.Recommend = recommend.FollowOptions()
	}
	h, r := &o.History, &o.Recommend
	for _, policy := range recommend.Policies() {
		if policy.Name() == d.Policy {
			r.Policy = policy
		}
	}
	h.Hours = r.Policy == recommend.Week
	set(&r.Margin, d.Margin)
	set(&r.MinHistory, d.MinHistory)
	set(&r.MinCoverage, d.MinCoverage)
	set(&h.Interval, d.Window)
	set(&h.Intervals, d.Windows)
	set(&h.OOMBump, d.OOMBump)
	set(&h.OOMMinBump, d.OOMMinBump)
	set(&h.CPUHalfLife, d.CPU.HalfLife)
	set(&h.MemoryHalfLife, d.Memory.HalfLife)
	set(&r.CPUConfidence, d.CPU.Confidence)
	set(&r.MemoryConfidence, d.Memory.Confidence)
	percentiles(&r.CPU, &d.CPU)
	percentiles(&r.Memory, &d.Memory)
	set(&r.Floor.CPU, d.CPU.Floor)
	set(&r.Floor.Memory, d.Memory.Floor)
	set(&r.Round.CPU, d.CPU.RoundTo)
	set(&r.Round.Memory, d.Memory.RoundTo)
	set(&r.IntegerCPU, d.CPU.Whole)
	set(&r.KeepMemory, d.Memory.Keep)
	set(&r.Limits.MemoryMultiple, d.Memory.Multiple)
	set(&r.Limits.MemoryHeadroom, d.Memory.Headroom)
	if mode, ok := limitModes[d.CPU.Limit]; ok && !guaranteed {
		r.Limits.CPU = mode
	}
	if mode, ok := limitModes[d.Memory.Limit]; ok && !guaranteed {
		r.Limits.Memory = mode
	}
	bounds := d.BoundsOf(name)
	set(&r.Min.CPU, bounds.CPU.Min)
	set(&r.Max.CPU, bounds.CPU.Max)
	set(&r.Min.Memory, bounds.Memory.Min)
	set(&r.Max.Memory, bounds.Memory.Max)
	return o
}

func percentiles(into *recommend.Percentiles, d *policy.ResourceDemand) {
	set(&into.Target, d.Target)
	set(&into.Lower, d.Lower)
	set(&into.Upper, d.Upper)
}

// set sets a value that is configured.
func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}

const followLimit = "follow"

// limitModes are the ways in which limits follow, by their names in the configuration.
var limitModes = map[string]recommend.LimitMode{
	followLimit: recommend.Follow, "keep": recommend.Keep, "none": recommend.None, "multiple": recommend.Multiple,
}
