package main

import (
	"fmt"
	"time"
)

// Expectations for a run, besides those that the judge checks.
const (
	// handoverWithin is how long another replica may take to lead after SIGTERM. The
	// servers aim at 2 s; polling them in turn takes time, too.
	handoverWithin = 5 * time.Second
	// takeoverWithin is the same after SIGKILL, when --leader-lease-duration, which is 15
	// s, has to pass first.
	takeoverWithin = 25 * time.Second
	// rateShare is the minimum share of -rate that must have been deleted per second.
	rateShare = 0.5
	// missedShare is the maximum share of the pods due for deletion that were not deleted
	// because too few were running.
	missedShare = 0.25
	// youngShare is the maximum share of the pods that needed a resize but ended too
	// early to be judged.
	youngShare = 0.1
)

// judgeCourse adds a problem for everything that did not happen as planned: such a run
// shows little.
func (r *report) judgeCourse(o options) {
	wrong := func(format string, args ...any) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) }
	for _, planned := range []struct {
		what       string
		want, came int
	}{
		{"leaders killed", len(o.kills()), len(r.SecondsAfterKill)},
		{"leaders terminated", terminations, len(r.SecondsAfterTerm)},
		{"API server restarts", restarts, r.APIServerRestarts},
	} {
		if planned.came < planned.want {
			wrong("%s: %d, planned %d", planned.what, planned.came, planned.want)
		}
	}
	for _, end := range []struct {
		signal string
		took   []float64
		within time.Duration
	}{{"SIGKILL", r.SecondsAfterKill, takeoverWithin}, {"SIGTERM", r.SecondsAfterTerm, handoverWithin}} {
		for _, took := range end.took {
			if took > end.within.Seconds() {
				wrong("another replica led %.1f s after %s, not within %v", took, end.signal, end.within)
			}
		}
	}
	if r.DeletedPerActiveSecond < rateShare*o.rate {
		wrong("%.1f pods were deleted per second; -rate is %.1f", r.DeletedPerActiveSecond, o.rate)
	}
	if due := r.NotDeletedInTime + r.DeletedInTime; float64(r.NotDeletedInTime) > missedShare*float64(due) {
		wrong("%d of %d pods were not deleted in time because too few were running", r.NotDeletedInTime, due)
	}
	if r.Sizings.Needed == 0 || r.Sizings.First.Count == 0 {
		wrong("no pod was sized outside of outages")
	}
	if float64(r.Sizings.DiedYoung) > youngShare*float64(r.Sizings.Needed) {
		wrong("%d of %d pods were deleted too early to be judged; use a lower -rate or more -pods", r.Sizings.DiedYoung, r.Sizings.Needed)
	}
}
