package document

import (
	"context"
	"time"
)

// expire ends the effect of entries that expire. They stay in the ConfigMap until it is
// written again.
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

// refresh applies the entries that have not expired.
func (d *Document[T]) refresh(ctx context.Context) {
	d.inForce = d.Accept(ctx, d.content)
	select {
	case d.rearm <- struct{}{}:
	default: // A pending signal covers this change, too.
	}
}
