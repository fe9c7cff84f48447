package hold

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// put returns what to store for h. If there is a hold of the same scope and kind, h replaces
// it and keeps its start. A hold that the same request has made stays as it is. The error is
// a *FieldError if another request has the same ID.
func put(holds []Hold, h Hold) (Hold, error) {
	for i := range holds {
		switch {
		case holds[i].key() != h.key():
		case h.RequestID != "" && holds[i].RequestID == h.RequestID:
			if holds[i].RequestDigest != h.RequestDigest {
				return Hold{}, &FieldError{Field: "requestID", Problem: "is the ID of another request, which made the hold that is in effect: use a new ID for each request"}
			}
			return holds[i], nil
		default:
			h.Since = holds[i].Since
		}
	}
	return h, nil
}

// Ending selects the holds to end.
type Ending struct {
	// Scope is the exact scope of the holds. A pod without a UID means every pod of
	// that name.
	Scope Scope
	// Workloads are the known workloads of the pod if Scope is a pod, the narrowest
	// first: their holds are wider than the pod's hold.
	Workloads []workload.Workload
	// Kind is the only kind to end; empty for all kinds.
	Kind Kind
	// Nested also ends the holds of narrower scopes inside Scope.
	Nested bool
	// Check is called before anything is written, and returns an error if these holds
	// must not end; the release returns that error. It may be called again with other
	// holds, and must not wait for anything: other writes wait for it. Nil allows
	// everything.
	Check func(Ended) error
}

// Ended is the result of a release.
type Ended struct {
	// Holds are the holds that have ended.
	Holds []Hold
	// Nested is the number of holds inside the scope that continue.
	Nested int
	// Wider is the hold that still covers the scope; nil if there is none.
	Wider *Hold
}

// release selects the holds to end. If there are none and a wider hold covers the scope, it
// returns a *CoveredError: nothing would change for the pods.
func release(holds []Hold, e Ending) (ended Ended, err error) {
	var wider []Hold
	for _, h := range holds {
		if !h.Reset.IsZero() {
			continue
		}
		within := e.Scope.Contains(h.Scope)
		own := within && h.Scope.level() == e.Scope.level()
		asked := e.Kind == "" || e.Kind == h.Kind
		switch {
		case asked && (own || within && e.Nested):
			ended.Holds = append(ended.Holds, h)
		case asked && within:
			ended.Nested++
		case !within && e.isInside(h.Scope):
			wider = append(wider, h)
		}
	}
	if w, ok := NewTable(wider).deciding(e.Scope, e.Workloads); ok {
		ended.Wider = &w
	}
	if w := ended.Wider; len(ended.Holds) == 0 && w != nil && (e.Kind == "" || e.Kind == w.Kind) {
		return Ended{}, &CoveredError{Scope: e.Scope, By: *w}
	}
	ended.Holds = ordered(ended.Holds)
	return ended, nil
}

// isInside reports whether the scope to release is inside the other scope.
func (e Ending) isInside(other Scope) bool {
	makes := other.Workload != (workload.Workload{}) && other.Namespace == e.Scope.Namespace && slices.Contains(e.Workloads, other.Workload)
	return other.Contains(e.Scope) || e.Scope.Pod != "" && makes
}
