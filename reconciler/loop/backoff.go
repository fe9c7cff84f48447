package loop

import "time"

// The first and the longest delay after a plan that failed or was undone, and after a
// size that the node refused. Delays grow by doubling.
const (
	firstPause   = 500 * time.Millisecond
	longPause    = 5 * time.Minute
	longDistress = 15 * time.Second // of a revert or an emergency restore that failed
	firstRefusal = 10 * time.Second
	longRefusal  = time.Hour
)

// backOff is a delay that doubles each time. It starts over once nothing has gone wrong
// for twice as long as the last delay.
type backOff struct {
	// what is the cause of the delay. A different cause starts over.
	what  uint64
	last  time.Duration
	until time.Time
}

// of sets the cause of the delay.
func (b *backOff) of(what uint64) {
	if b.what != what {
		*b = backOff{what: what}
	}
}

// longer starts a delay twice as long as the last one, between first and most.
func (b *backOff) longer(now time.Time, first, most time.Duration) {
	if now.Sub(b.until) > 2*b.last {
		b.last = 0
	}
	b.last = min(most, max(first, 2*b.last))
	b.until = now.Add(b.last)
}

// left returns the rest of the delay.
func (b *backOff) left(now time.Time) time.Duration { return max(0, b.until.Sub(now)) }
