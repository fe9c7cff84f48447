package demand

import (
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
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
		// The VPA ignores even a kill in a window that begins with nothing. Nothing else protects a limit that follows.
		o.History.FromNothing, o.Recommend.Headroom = true, d.Memory.Headroom
	}
	r := &o.Recommend
	for _, policy := range recommend.Policies() {
		if policy.Name() == d.Policy {
			r.Policy = policy
		}
	}
	o.History.Hours = r.Policy == recommend.Week
	if d.Policy == policy.SharedPolicy && !guaranteed { // The limit of a Guaranteed pod is its request.
		recommend.KeepSlots(&o.History)
		r.Shared = recommend.DefaultShared()
		r.Shared.CPU, r.Shared.Memory, r.Shared.WithMemory = d.CPU.Steady, d.Memory.Steady, d.Memory.Share
		if d.CPU.Whole {
			r.Shared.CPU = 0
		}
	}
	r.MinHistory, r.MinCoverage = d.MinHistory, d.MinCoverage
	if d.Margin != policy.ByLimit {
		r.Margin, r.MemoryMargin = d.Margin, d.Margin
	}
	r.CPU = r.CPU.At(d.CPU.Target)
	if d.Memory.Target != policy.ByLimit {
		r.Memory = r.Memory.At(d.Memory.Target)
	}
	r.Floor.CPU = d.CPU.Floor
	if d.Memory.Floor != policy.ByLimit {
		r.Floor.Memory = d.Memory.Floor
	}
	r.Round = recommend.Amounts{CPU: d.CPU.RoundTo, Memory: d.Memory.RoundTo}
	r.IntegerCPU, r.KeepMemory = d.CPU.Whole, d.Memory.Keep
	r.MaxGrowth = d.MaxGrowth
	if !guaranteed {
		r.Limits.CPU, r.Limits.Memory = limitModes[d.CPU.Limit], limitModes[d.Memory.Limit]
	}
	switch r.Limits.Memory {
	case need.Multiple:
		r.Limits.MemoryMultiple, r.Limits.MemoryHeadroom = d.Memory.Multiple, d.Memory.Headroom
	case need.Peak:
		r.Limits.MemoryMultiple, r.Limits.MemoryHeadroom = d.Memory.Multiple, 0
	}
	bounds := d.BoundsOf(name)
	r.Min = recommend.Amounts{CPU: bounds.CPU.Min, Memory: bounds.Memory.Min}
	r.Max = recommend.Amounts{CPU: bounds.CPU.Max, Memory: bounds.Memory.Max}
	return o
}

// unconfigured is the demand while nothing is configured.
var unconfigured = keys.Defaults[policy.Demand]()

const followLimit = "follow"

// limitModes are the ways in which limits follow, by their names in the configuration.
var limitModes = map[string]need.LimitMode{
	followLimit: need.Follow, "keep": need.Keep, "none": need.None, "multiple": need.Multiple, "peak": need.Peak,
}
