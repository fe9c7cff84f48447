package recommend

import "github.com/workload-resizer/workload-resizer/reconciler/need"

// Authored is what the author of a container wrote. A limit of 0 is none.
type Authored struct {
	Request, Limit Amounts
	// Guaranteed means that the pod's class requires limits equal to requests.
	Guaranteed bool
}

// Need returns the recommendation as planners know it. It has the rules of the options, which must not change.
func (o *Options) Need(r *Recommendation) need.Container {
	all := need.Container{
		CPU: need.Recommendation{
			Target: r.Target.CPU, Lower: r.Lower.CPU, Upper: r.Upper.CPU, Max: r.Max.CPU, Keeps: o.KeepsCPU(r), Rules: &o.Rules,
		},
		Memory: need.Recommendation{
			Target: r.Target.Memory, Lower: r.Lower.Memory, Upper: r.Upper.Memory, Max: r.Max.Memory,
			Keeps: o.KeepsMemory(r, false), KeepsLimit: o.keepsLimit(r), Rules: &o.Rules,
		},
	}
	if r.MemoryUnknown {
		all.Memory.Target, all.Memory.Lower, all.Memory.Upper, all.Memory.Unknown = 0, 0, 0, true
	}
	if o.Limits.Memory == need.Peak {
		all.Memory.Peak = r.Peak
	}
	if o.Shared.CPU > 0 {
		o.share(&all.CPU, r.Parts.Steady.CPU, r.Parts.Peak.CPU)
	}
	if o.Shared.WithMemory && !r.MemoryUnknown {
		o.share(&all.Memory, r.Parts.Steady.Memory, r.Parts.Peak.Memory)
	}
	all.CPU.Floor.Request, all.CPU.Floor.Limit = r.Floors.Request.CPU, r.Floors.Limit.CPU
	all.Memory.Floor.Request, all.Memory.Floor.Limit = r.Floors.Request.Memory, r.Floors.Limit.Memory
	return all
}

// share makes a resource one that its container shares. Its request may be any between both parts.
func (o *Options) share(n *need.Recommendation, steady, peak int64) {
	n.Steady, n.Rest = steady, peak-steady
	n.Lower, n.Upper = scale(steady, 1-o.Updates.Band), max(n.Upper, peak)
}
