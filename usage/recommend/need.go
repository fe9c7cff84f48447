package recommend

import (
	"cmp"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Authored is what the author of a container wrote. A limit of 0 is none.
type Authored struct {
	Request, Limit Amounts
	// Guaranteed means that the pod's class requires limits equal to requests.
	Guaranteed bool
}

// Need returns the recommendation as planners know it. It has the rules of the options, which must not change.
func (o *Options) Need(r *Recommendation) need.Container {
	return need.Container{
		CPU: need.Recommendation{
			Target: r.Target.CPU, Lower: r.Lower.CPU, Upper: r.Upper.CPU, Max: r.Max.CPU, Keeps: o.KeepsCPU(r), Rules: &o.Rules,
			Floor: sizing.Amount{Request: r.Floors.Request.CPU, Limit: r.Floors.Limit.CPU},
		},
		Memory: need.Recommendation{
			Target: r.Target.Memory, Lower: r.Lower.Memory, Upper: r.Upper.Memory, Max: r.Max.Memory,
			Keeps: o.KeepsMemory(r, false), KeepsLimit: cmp.Or(o.unknown("peaks of memory", r.PeaksKnown), o.untried(r)), Rules: &o.Rules,
			Floor: sizing.Amount{Request: r.Floors.Request.Memory, Limit: r.Floors.Limit.Memory},
		},
	}
}
