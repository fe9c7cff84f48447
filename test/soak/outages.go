package main

import (
	"sync"
	"time"
)

// recovery is how long after an outage pods may still have to wait: what has heaped up
// meanwhile takes its time at --kube-api-qps, and watches and Leases come back after
// pauses.
const recovery = 30 * time.Second

// outages are the times in which nobody can size pods in time: no replica leads, or the
// API server is away. Only the soak makes them, and knows them by that; a leader that
// stops by itself is not excused.
type outages struct {
	mu  sync.Mutex
	all []outage
}

// outage is one of them; until is zero while it goes on.
type outage struct{ from, until time.Time }

// begin begins one, and returns what ends it.
func (o *outages) begin() (end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(o.all)
	o.all = append(o.all, outage{from: time.Now()})
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.all[n].until = time.Now()
	}
}

// outside is how much of a time is outside of outages and what they need to recover.
func (o *outages) outside(from, to time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := max(0, to.Sub(from))
	for _, one := range o.all {
		begin, end := one.from, to
		if begin.Before(from) {
			begin = from
		}
		if until := one.until.Add(recovery); !one.until.IsZero() && until.Before(to) {
			end = until
		}
		if end.After(begin) {
			left -= end.Sub(begin)
			from = end // What two of them share counts once.
		}
	}
	return left
}

// touch tells whether any of a time is in one of them.
func (o *outages) touch(from, to time.Time) bool {
	// At one moment there is no time outside, nor inside.
	return o.outside(from, to.Add(1)) < to.Add(1).Sub(from)
}
