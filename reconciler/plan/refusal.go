package plan

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// Refusal is a size that the pod's node turned out not to be able to give it.
type Refusal struct {
	Reason Reason
	// Wanted is the size, as Plan.Wanted has it.
	Wanted string
	// Waiting says that nothing that takes more is tried yet, and after a ResizeError
	// nothing at all; retry that the same may be.
	Waiting, Retry bool
}

// stands reports whether the sizes of a plan are not to be asked for yet.
func (r *Refusal) stands(p *Plan, s *Snapshot) bool {
	if r.Waiting && (p.grows() || r.Reason.Code == contract.ResizeError) {
		return true
	}
	return !r.Retry && r.Wanted == p.asksFor(s, desired)
}
