package plan

import (
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// await skips a pod that may yet show that its last resize made it worse. After another resize, it would look as if
// the pod had not been ready before.
func (p *Planner) await(d *draft, s *Snapshot) *verdict {
	if d.proof.judgedAt.IsZero() || s.InTheEnd || !d.differs() {
		return nil
	}
	return d.skips(stays, contract.AwaitingReadiness, fmt.Sprintf("the pod became unready after its last resize at %s, which is reverted at %s unless the pod is ready by then",
		s.Pod.ResizedAt().UTC().Format(time.RFC3339), d.proof.judgedAt.UTC().Format(time.RFC3339)))
}

// breaker skips pods whose sizing a breaker stops. Reverts and restores pass.
func (p *Planner) breaker(d *draft, s *Snapshot) *verdict {
	if s.Degraded == "" || !d.differs() {
		return nil
	}
	return d.skips(stays, contract.Degraded, s.Degraded)
}

// schedule skips pods that are resized at other times. Without a time, as in a preview without a cluster, no schedule
// applies.
func (p *Planner) schedule(d *draft, s *Snapshot) *verdict {
	windows := d.rule.profile.Guard.Schedule
	if s.Now.IsZero() || windows.Contains(s.Now) || !d.differs() {
		return nil
	}
	opens := windows.Next(s.Now)
	v := d.skips(stays, contract.OutsideSchedule, "the schedule of the configuration resizes this pod from "+opens.UTC().Format(time.RFC3339))
	v.again = opens
	return v
}
