package usage

import (
	"math"
	"slices"
	"time"
)

const (
	// patience is how long samples of a pod that is not known yet are kept.
	patience = 10 * time.Minute
	// mostWaiting is how many such samples are kept at most: one a minute of each container in
	// a large cluster.
	mostWaiting = 200_000
)

// waiting has samples whose pods are not known yet.
type waiting struct {
	samples []waiter
	// held has the same samples, which may arrive again.
	held map[Sample]bool
}

// waiter is a sample and when it arrived.
type waiter struct {
	Sample
	arrived time.Time
}

func newWaiting() waiting { return waiting{held: map[Sample]bool{}} }

// takeAll returns the samples in the order of time and those that have waited too long, and forgets both.
func (w *waiting) takeAll(now time.Time) (all, expired []waiter) {
	for _, s := range w.samples {
		if now.Sub(s.arrived) > patience {
			expired = append(expired, s)
		} else {
			all = append(all, s)
		}
	}
	w.samples = nil
	clear(w.held)
	slices.SortStableFunc(all, func(a, b waiter) int { return a.At.Compare(b.At) })
	return all, expired
}

// add keeps a sample, and returns those that are rejected for it. If too many wait, the oldest quarter
// of the measurements goes: that of a pod that has just begun is new, and a backfill has old ones of
// pods that ended long ago.
func (w *waiting) add(s waiter) (rejected []waiter) {
	if math.IsNaN(s.Pressure) {
		return []waiter{s} // It can never count. It does not equal itself, so it would be held several times.
	}
	if w.held[s.Sample] {
		return nil
	}
	w.samples = append(w.samples, s)
	w.held[s.Sample] = true
	if len(w.samples) <= mostWaiting {
		return nil
	}
	slices.SortStableFunc(w.samples, func(a, b waiter) int { return a.At.Compare(b.At) })
	n := len(w.samples) / 4
	rejected = slices.Clone(w.samples[:n])
	for i := range rejected {
		delete(w.held, rejected[i].Sample)
	}
	w.samples = slices.Delete(w.samples, 0, n)
	return rejected
}
