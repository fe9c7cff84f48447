package document

import (
	"context"
	"time"
)

// expire takes out of force what expires. It stays in the ConfigMap until the
// next write, so that no replica writes of its own accord.
func (d *Document[T]) expire(ctx context.Context) {
	for {
		var due <-chan time.Time
		stop := func() bool { return true }
		if next := d.nextExpiry(); !next.IsZero() {
			timer := d.Clock.NewTimer(next.Sub(d.Clock.Now()))
			due, stop = timer.C(), timer.Stop
		}
		select {
		case <-ctx.Done():
			stop()
			return
		case <-d.rearm:
			stop()
		case <-due:
			d.mu.Lock()
			d.refresh(ctx)
			d.changes.Notify()
			d.mu.Unlock()
		}
	}
}

func (d *Document[T]) nextExpiry() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inForce.Expires
}

// refresh puts in force what has not expired.
func (d *Document[T]) refresh(ctx context.Context) {
	d.inForce = d.Accept(ctx, d.content)
	select {
	case d.rearm <- struct{}{}:
	default: // It will look at this change too.
	}
}
