package hold

import (
	"context"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// ResetKept is how long the reset of a breaker is remembered. Nothing that happened longer ago
// may open a breaker.
const ResetKept = 7 * 24 * time.Hour

// Breaker returns the open breaker of exactly this scope, or when it was last reset; zero if it was
// not, or too long ago to count.
func (t *Table) Breaker(scope Scope) (open Hold, isOpen bool, reset time.Time) {
	if t == nil {
		return Hold{}, false, time.Time{}
	}
	if open, isOpen = t.at(scope, Breaker); isOpen {
		return open, true, time.Time{}
	}
	return Hold{}, false, t.resetAt[scope]
}

// Breakers returns the open breaker of the cluster, nil if there is none, and the numbers of open
// breakers of namespaces and of workloads.
func (t *Table) Breakers() (ofCluster *Hold, ofNamespaces, ofWorkloads int) {
	if t == nil {
		return nil, 0, 0
	}
	for i := range t.holds {
		switch h := t.holds[i]; {
		case h.Kind != Breaker:
		case h.Scope == Scope{}:
			ofCluster = &h
		case h.Scope.level() == ofNamespace:
			ofNamespaces++
		default:
			ofWorkloads++
		}
	}
	return ofCluster, ofNamespaces, ofWorkloads
}

// Open opens the breaker of a scope, for a reason that became known at a time. It reports false if
// the breaker is open already, or was reset since. The errors are the same as for Put.
func (s *Store) Open(ctx context.Context, scope Scope, reason string, known time.Time) (opened bool, err error) {
	h := Hold{Kind: Breaker, Scope: scope, Reason: reason, Author: contract.AppName, Since: s.clock.Now().UTC().Truncate(time.Second)}
	if wrong := h.Faults(); len(wrong) > 0 {
		return false, wrong[0]
	}
	err = s.update(ctx, toStore, scope.turn(), func(holds []Hold) (change, error) {
		i := slices.IndexFunc(holds, func(other Hold) bool { return other.key() == h.key() })
		if opened = i < 0 || !holds[i].Reset.IsZero() && known.After(holds[i].Reset); !opened {
			return change{}, nil
		}
		return change{put: &h}, nil
	})
	return opened && err == nil, err
}

// afterReset returns a breaker as it is stored once it is reset; false for other holds, of which
// nothing is stored. It was reset after it opened, even if the clock of the replica that opened it was ahead:
// otherwise, what opened it would open it again.
func (h Hold) afterReset(now time.Time) (Hold, bool) {
	if h.Kind != Breaker {
		return Hold{}, false
	}
	now = now.UTC().Truncate(time.Second)
	if now.Before(h.Since) {
		now = h.Since
	}
	return Hold{Kind: Breaker, Scope: h.Scope, Author: h.Author, Since: h.Since, Reset: now, Expires: now.Add(ResetKept)}, true
}

// breakerFaults returns what is wrong with a breaker.
func (h Hold) breakerFaults() []*FieldError {
	var errs []*FieldError
	switch {
	case h.Kind != Breaker && !h.Reset.IsZero():
		errs = append(errs, &FieldError{"reset", "must be set only for a " + string(Breaker)})
	case h.Kind == Breaker && h.Scope.Pod != "":
		errs = append(errs, &FieldError{"pod", "must not be set for a " + string(Breaker)})
	}
	return errs
}
