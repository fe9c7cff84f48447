package hold

import "slices"

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
	// Kind is the only kind to end; empty is both.
	Kind Kind
	// Nested ends the holds of narrower scopes inside Scope, too.
	Nested bool
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
		case !within && h.Scope.Contains(e.Scope) && h.goesBefore(ended.Wider):
			ended.Wider = &h
		}
		left = append(left, h)
	}
	if w := ended.Wider; len(ended.Holds) == 0 && w != nil && (e.Kind == "" || e.Kind == w.Kind) {
		return nil, Ended{}, &CoveredError{Scope: e.Scope, By: *w}
	}
	ended.Holds = ordered(ended.Holds)
	return left, ended, nil
}

// goesBefore tells whether h decides for pods that the other covers too: a
// Restore before a Pause, else the narrower one. Any hold goes before none.
func (h Hold) goesBefore(other *Hold) bool {
	if other == nil || h.Kind != other.Kind {
		return other == nil || h.Kind == Restore
	}
	return h.Scope.level() > other.Scope.level()
}
