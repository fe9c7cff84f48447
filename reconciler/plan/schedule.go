package plan

import (
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

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
