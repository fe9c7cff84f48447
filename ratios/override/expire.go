package override

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/document"
)

// recordAgain is when to try again to store an expiry. Every replica tries, and one is enough.
const recordAgain = time.Minute

// recordExpiries stores, until ctx is done, that overrides have expired, so that the history
// shows each expiry when it happens.
func (s *Store) recordExpiries(ctx context.Context) {
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.expired:
		case <-again:
		}
		again = nil
		if s.readOnly {
			continue
		}
		if err := s.recordExpired(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Info("Expiry of overrides not stored yet", "problem", err.Error())
			again = s.clock.After(recordAgain)
		}
	}
}

// recordExpired stores the overrides without those that have expired, and their expiry.
func (s *Store) recordExpired(ctx context.Context) error {
	var written []Change
	err := s.document.Update(ctx, document.Turn{}, func(stored content, _ map[string]string) (map[string]string, error) {
		next := stored.at(s.second())
		written = next.changes[len(stored.changes):]
		if len(written) == 0 {
			return nil, nil
		}
		return readable(next)
	})
	if err == nil {
		logAll(ctx, written)
	}
	return err
}
