package hold

import (
	"context"
	"time"
)

// expire takes holds out of force when they expire. They stay in the ConfigMap
// until the next write, so that no replica writes of its own accord.
func (s *Store) expire(ctx context.Context) {
	for {
		var due <-chan time.Time
		stop := func() bool { return true }
		if next := s.nextExpiry(); !next.IsZero() {
			timer := s.clock.NewTimer(next.Sub(s.clock.Now()))
			due, stop = timer.C(), timer.Stop
		}
		select {
		case <-ctx.Done():
			stop()
			return
		case <-s.rearm:
			stop()
		case <-due:
			s.mu.Lock()
			s.refresh(ctx)
			s.notify()
			s.mu.Unlock()
		}
	}
}

// nextExpiry is when the next of the holds in force expires, zero if none does.
func (s *Store) nextExpiry() time.Time {
	var next time.Time
	for _, h := range s.table.Load().All() {
		if !h.Expires.IsZero() && (next.IsZero() || h.Expires.Before(next)) {
			next = h.Expires
		}
	}
	return next
}
