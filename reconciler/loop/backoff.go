package loop

import "time"

// Pauses, each the first and what it grows to by doubling: after a plan that
// failed or was undone, and after a size that the node refused.
const (
	firstPause   = 500 * time.Millisecond
	longPause    = 5 * time.Minute
	firstRefusal = 10 * time.Second
	longRefusal  = time.Hour
)

// backOff is a pause that doubles each time, and begins anew once nothing has
// gone wrong for twice as long as it last was.
type backOff struct {
	// what the pause is after; another thing begins anew.
	what  uint64
	last  time.Duration
	until time.Time
}

// of makes the pause one after what.
func (b *backOff) of(what uint64) {
	if b.what != what {
		*b = backOff{what: what}
	}
}

// longer begins a pause twice as long as the last one, from first to most.
func (b *backOff) longer(now time.Time, first, most time.Duration) {
	if now.Sub(b.until) > 2*b.last {
		b.last = 0
	}
	b.last = min(most, max(first, 2*b.last))
	b.until = now.Add(b.last)
}

// left is what is left of the pause.
func (b *backOff) left(now time.Time) time.Duration { return max(0, b.until.Sub(now)) }
