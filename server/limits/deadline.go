package limits

import (
	"context"
	"sync"
	"time"
)

// deadline is a context with a deadline whose timer is set only when somebody waits for it: most
// calls end without that.
type deadline struct {
	context.Context
	at time.Time

	mu sync.Mutex
	// timed is Context with a timer; nil until somebody waits. cancel ends it.
	timed  context.Context
	cancel context.CancelFunc
	ended  bool
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} { return d.wait().Done() }

// wait returns the context with a timer.
func (d *deadline) wait() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(d.Context, d.at)
		if d.ended {
			d.cancel()
		}
	}
	return d.timed
}

// current returns the context with a timer if there is one, and otherwise Context.
func (d *deadline) current() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed != nil {
		return d.timed
	}
	return d.Context
}

// Err implements context.Context.
func (d *deadline) Err() error {
	d.mu.Lock()
	silent := d.timed == nil && !d.ended && time.Now().Before(d.at)
	d.mu.Unlock()
	if silent {
		return d.Context.Err()
	}
	return d.wait().Err()
}

// Value implements context.Context. Contexts that are derived from this one find the one with the
// timer like this, which they then need no goroutine for.
func (d *deadline) Value(key any) any { return d.current().Value(key) }

// end cancels the context.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.cancel != nil {
		d.cancel()
	}
}
