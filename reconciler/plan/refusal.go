package plan

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// Refusal is a size that the pod's node could not satisfy.
type Refusal struct {
	Reason Reason
	// Wanted is the size, in the format of Plan.Wanted.
	Wanted string
	// Waiting means that no increase is tried yet, and after a ResizeError no change at all.
	// Retry means that the same size may be tried again.
	Waiting, Retry bool
}

// stands reports whether the refusal still prevents the sizes of a plan.
// A revert waits only after the node refused that revert, not because of a different size.
func (r *Refusal) stands(p *Plan, s *Snapshot) bool {
	if r.Waiting && p.Kind != Revert && (p.grows() || r.Reason.Code == contract.ResizeError) {
		return true
	}
	return !r.Retry && r.Wanted == p.asksFor(s, desired)
}
