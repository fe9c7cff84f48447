package plan

import (
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Place is where something must change before a skipped pod can be resized.
type Place int

const (
	Nowhere Place = iota
	InNamespace
	OnNode
)

// Waits returns where something must change before a pod that was skipped for the reason can
// be resized.
func Waits(reason contract.Reason) Place {
	switch reason {
	case contract.QuotaExceeded, contract.LimitRangeViolation:
		return InNamespace
	case contract.NodeCapacity, contract.NodePressure, contract.RevertBlocked, contract.ResizeInfeasible, contract.ResizeError:
		return OnNode
	}
	return Nowhere
}

// degraded returns the veto of a breaker; nil if there is none. It lets reverts pass.
func (p *Plan) degraded(s *Snapshot) *safety.Veto {
	if s.Degraded == "" || p.Kind != Sizes {
		return nil
	}
	return &safety.Veto{Reason: contract.Degraded, Message: s.Degraded}
}

// outside skips a pod that is resized at other times, and reports whether it does. Without a time,
// as in a preview without a cluster, no schedule applies. Reverts and restores do not wait.
func (p *Plan) outside(profile *ratios.Profile, now time.Time) bool {
	windows := profile.Guard.Schedule
	if now.IsZero() || windows.Contains(now) {
		return false
	}
	opens := windows.Next(now)
	p.Skip(&safety.Veto{Reason: contract.OutsideSchedule, Message: "the schedule of the configuration resizes this pod from " + opens.UTC().Format(time.RFC3339)})
	p.replanAt(opens)
	return true
}
