package hold

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
)

// pruneAge is the minimum age of a hold that is pruned: the caches may not have the pod of
// a newer hold yet.
const pruneAge = 5 * time.Minute

// Put stores a hold and returns the stored hold. It starts now, unless it updates a hold of
// the same kind and scope, whose start it keeps. The hold is in effect in this process when
// Put returns. The error may be a *FieldError, *MissingError, *ContentError, *FullError,
// *RefusedError or ErrReadOnly.
func (s *Store) Put(ctx context.Context, h Hold) (Hold, error) { return s.put(ctx, h, toStore) }

// CheckPut returns what Put would return, as far as the holds that this process knows show it.
// It neither asks the API server nor waits for writes.
func (s *Store) CheckPut(ctx context.Context, h Hold) (Hold, error) { return s.put(ctx, h, toCheck) }

func (s *Store) put(ctx context.Context, h Hold, write write) (Hold, error) {
	if h.Kind == Breaker {
		return Hold{}, fmt.Errorf("hold %s: %w", h.Scope, &FieldError{Field: "kind", Problem: "must be " + string(Restore) + " or " + string(Pause) + ": a breaker opens by itself"})
	}
	h.Since = s.clock.Now().UTC().Truncate(time.Second)
	h.Expires = h.Expires.UTC().Truncate(time.Second)
	if wrong := h.Faults(); len(wrong) > 0 {
		return Hold{}, fmt.Errorf("hold %s: %w", h.Scope, wrong[0])
	}
	into := h
	err := s.update(ctx, write, h.Scope.turn(), func(holds []Hold) (_ change, err error) {
		into, err = put(holds, h)
		return change{put: &into}, err
	})
	return into, err
}

// Release ends holds, and returns which holds have ended and which continue. If no hold ends
// and a wider hold covers the scope, the error is a *CoveredError. Otherwise, the errors are
// the same as for Put, or come from Ending.Check. A missing ConfigMap is not an error if no
// hold is in effect: there is nothing to end.
func (s *Store) Release(ctx context.Context, e Ending) (Ended, error) {
	return s.release(ctx, e, toStore)
}

// CheckRelease returns what Release would return, as far as the holds that this process knows
// show it. It neither asks the API server nor waits for writes.
func (s *Store) CheckRelease(ctx context.Context, e Ending) (Ended, error) {
	return s.release(ctx, e, toCheck)
}

func (s *Store) release(ctx context.Context, e Ending, write write) (ended Ended, err error) {
	err = s.update(ctx, write, e.Scope.turn(), func(holds []Hold) (_ change, err error) {
		if ended, err = release(holds, e); err == nil && e.Check != nil {
			err = e.Check(ended)
		}
		return change{drop: ended.Holds}, err
	})
	var missing *MissingError
	switch {
	case errors.As(err, &missing) && missing.InForce == 0:
		return Ended{}, nil // There is nothing to end.
	case err != nil:
		return Ended{}, err
	}
	return ended, nil
}

// Prune drops the holds of deleted pods, and resets the breakers that opened more than a week ago and whose
// scopes have no pods: nobody else would, after a workload or a namespace is deleted. It does not call exists
// for the newest holds, whose pods may not have been seen yet.
func (s *Store) Prune(ctx context.Context, exists func(Scope) bool) error {
	now := s.clock.Now()
	isGone := func(h Hold) bool {
		age := now.Sub(h.Since)
		isOld := h.Scope.Pod != "" && age > pruneAge || h.Kind == Breaker && h.Reset.IsZero() && h.Scope != Scope{} && age > ResetKept
		return isOld && !exists(h.Scope)
	}
	table, err := s.Ready()
	if err != nil {
		return fmt.Errorf("prune holds: %w", err)
	}
	if !slices.ContainsFunc(table.holds, isGone) {
		return nil
	}
	return s.update(ctx, toStore, document.Turn{}, func(holds []Hold) (change, error) {
		return change{drop: slices.DeleteFunc(holds, func(h Hold) bool { return !isGone(h) })}, nil
	})
}
