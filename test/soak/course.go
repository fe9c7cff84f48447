package main

import (
	"fmt"
	"time"
)

// What is expected of a run, besides what the judge watches over.
const (
	// handoverWithin is how long another replica may take to lead after SIGTERM. The
	// servers aim at 2 s; asking them in turns who leads takes time too.
	handoverWithin = 5 * time.Second
	// takeoverWithin is the same after SIGKILL: first --leader-lease-duration has to
	// pass, which is 15 s.
	takeoverWithin = 25 * time.Second
	// rateShare is which share of -rate must have been deleted per second at least.
	rateShare = 0.5
	// missedShare is which share of the pods due to be deleted may have been let be,
	// as too few ran.
	missedShare = 0.25
	// youngShare is which share of the pods that needed another size may have ended
	// before anything could be said of them.
	youngShare = 0.1
)

// judgeCourse adds what did not happen as it should have: then little was shown.
func (r *report) judgeCourse(o options) {
	wrong := func(format string, args ...any) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) }
	for _, planned := range []struct {
		what       string
		want, came int
	}{
		{"leaders killed", len(o.kills()), len(r.SecondsAfterKill)},
		{"leaders asked to end", terminations, len(r.SecondsAfterTerm)},
		{"restarts of the API server", restarts, r.APIServerRestarts},
	} {
		if planned.came < planned.want {
			wrong("%s: %d, not %d as planned", planned.what, planned.came, planned.want)
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
		wrong("%.1f pods were deleted per second, of %.1f", r.DeletedPerActiveSecond, o.rate)
	}
	if due := r.NotDeletedInTime + r.DeletedInTime; float64(r.NotDeletedInTime) > missedShare*float64(due) {
		wrong("%d of %d pods were not deleted in time, since too few ran", r.NotDeletedInTime, due)
	}
	if r.Sizings.Needed == 0 || r.Sizings.First.Count == 0 {
		wrong("no pod was sized while all was well")
	}
	if float64(r.Sizings.DiedYoung) > youngShare*float64(r.Sizings.Needed) {
		wrong("%d of %d pods were deleted so young that nothing can be said of them; a lower -rate or more -pods helps", r.Sizings.DiedYoung, r.Sizings.Needed)
	}
}
