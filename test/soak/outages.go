package main

import (
	"sync"
	"time"
)

// recovery is how long pods may still have to wait after an outage: the backlog is
// processed at --kube-api-qps, and watches and Leases recover after backoffs.
const recovery = 30 * time.Second

// outages are the periods in which no replica can size pods in time: no replica leads, or
// the API server is down. Only outages that the soak causes count. A leader that stops by
// itself is not excused.
type outages struct {
	mu  sync.Mutex
	all []outage
}

// outage is a period without the API server or a leader. until is zero while it lasts.
type outage struct{ from, until time.Time }

// begin records the start of an outage, and returns the function that records its end.
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

// outside returns how much of a period is outside of outages and their recovery.
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
			from = end // Overlaps count once.
		}
	}
	return left
}

// touch reports whether any part of a period is in an outage or its recovery.
func (o *outages) touch(from, to time.Time) bool {
	// A single moment has no duration, so add 1 ns.
	return o.outside(from, to.Add(1)) < to.Add(1).Sub(from)
}
