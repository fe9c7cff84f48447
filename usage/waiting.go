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

// takeAll returns the samples in the order of time, and forgets them. It rejects those that have
// waited too long.
func (w *waiting) takeAll(now time.Time, rejected *int) []waiter {
	all := slices.DeleteFunc(w.samples, func(s waiter) bool { return now.Sub(s.arrived) > patience })
	*rejected += len(w.samples) - len(all)
	w.samples = nil
	clear(w.held)
	slices.SortStableFunc(all, func(a, b waiter) int { return a.At.Compare(b.At) })
	return all
}

// add keeps a sample, and returns how many are rejected for it. If too many wait, the oldest quarter
// of the measurements goes: that of a pod that has just begun is new, and a backfill has old ones of
// pods that ended long ago.
func (w *waiting) add(s waiter) (rejected int) {
	if math.IsNaN(s.Pressure) {
		return 1 // It can never count. It does not equal itself, so it would be held several times.
	}
	if w.held[s.Sample] {
		return 0
	}
	w.samples = append(w.samples, s)
	w.held[s.Sample] = true
	if len(w.samples) <= mostWaiting {
		return 0
	}
	slices.SortStableFunc(w.samples, func(a, b waiter) int { return a.At.Compare(b.At) })
	rejected = len(w.samples) / 4
	for _, old := range w.samples[:rejected] {
		delete(w.held, old.Sample)
	}
	w.samples = slices.Delete(w.samples, 0, rejected)
	return rejected
}
