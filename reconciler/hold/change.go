package hold

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// put returns the holds with h added, or in place of the one of its scope and
// kind, whose beginning it keeps.
func put(holds []Hold, h Hold) (all []Hold, stored Hold) {
	all = slices.Clone(holds)
	i := slices.IndexFunc(all, func(other Hold) bool { return other.key() == h.key() })
	if i < 0 {
		return append(all, h), h
	}
	h.Since = all[i].Since
	all[i] = h
	return all, h
}

// Ending says which holds to end.
type Ending struct {
	// Scope is exactly what the holds cover. A pod without a UID stands for
	// every pod of that name.
	Scope Scope
	// Workloads are those of the pod that Scope is, the narrowest first, as far
	// as they are known: their holds are wider than that of the pod.
	Workloads []safety.Workload
	// Kind is the only kind to end; empty is both.
	Kind Kind
	// Nested ends the holds of narrower scopes inside Scope, too.
	Nested bool
	// Check is asked whether this may end, before anything is written, and may
	// be asked again about something else; its error is that of the release. Nil
	// allows everything.
	Check func(Ended) error
}

// Ended is what has ended.
type Ended struct {
	// Holds have ended.
	Holds []Hold
	// Nested counts the holds inside the scope that go on.
	Nested int
	// Wider is the hold that covers the scope now and goes on, nil if none does.
	Wider *Hold
}

// release takes out the holds to end. Where there are none but a wider one covers
// the scope, it returns a *CoveredError: nothing would change for the pods.
func release(holds []Hold, e Ending) (left []Hold, ended Ended, err error) {
	var wider []Hold
	for _, h := range holds {
		within := e.Scope.Contains(h.Scope)
		own := within && h.Scope.level() == e.Scope.level()
		asked := e.Kind == "" || e.Kind == h.Kind
		switch {
		case asked && (own || within && e.Nested):
			ended.Holds = append(ended.Holds, h)
			continue
		case asked && within:
			ended.Nested++
		case !within && e.isInside(h.Scope):
			wider = append(wider, h)
		}
		left = append(left, h)
	}
	if w, ok := NewTable(wider).deciding(e.Scope, e.Workloads); ok {
		ended.Wider = &w
	}
	if w := ended.Wider; len(ended.Holds) == 0 && w != nil && (e.Kind == "" || e.Kind == w.Kind) {
		return nil, Ended{}, &CoveredError{Scope: e.Scope, By: *w}
	}
	ended.Holds = ordered(ended.Holds)
	return left, ended, nil
}

// isInside tells whether what is to be released is inside the other scope.
func (e Ending) isInside(other Scope) bool {
	makes := other.Workload != (safety.Workload{}) && other.Namespace == e.Scope.Namespace && slices.Contains(e.Workloads, other.Workload)
	return other.Contains(e.Scope) || e.Scope.Pod != "" && makes
}
