package trend

import (
	"cmp"
	"time"
)

const hour, day = time.Hour, 24 * time.Hour

// Subject is what a series is about: the whole cluster if it is empty, or else a namespace if it has only that, or else a workload.
type Subject struct{ Namespace, Kind, Name string }

// Compare orders subjects: by namespace, kind and name.
func (s Subject) Compare(o Subject) int {
	return cmp.Or(cmp.Compare(s.Namespace, o.Namespace), cmp.Compare(s.Kind, o.Kind), cmp.Compare(s.Name, o.Name))
}

// Step is how long the slots of the subject are.
func (s Subject) Step() time.Duration {
	if s.Kind == "" {
		return hour
	}
	return day
}

// slotOf returns the slot of a time.
func slotOf(at time.Time, step time.Duration) Slot { return Slot(at.Unix() / int64(step/time.Second)) }

// begin returns when a slot begins.
func begin(s Slot, step time.Duration) time.Time {
	return time.Unix(int64(s)*int64(step/time.Second), 0).UTC()
}

// Record is what is known of a subject, from some time in one slot until some time in another.
type Record struct {
	// Since is the first slot that is known, except for its first Late seconds.
	Since Slot
	Late  float64
	// Closed has the slots that have ended. Some may be unknown.
	Closed Series
	// Open is the slot that has not ended, Covered for how many seconds of it is known what the subject had, and Mean what that was.
	Open    Slot
	Covered float64
	Mean    Amounts
}

// unknown are the codes of slots of which nothing is known.
var unknown = codes{-1}

// turnTo closes the open slot, and opens a later one. known returns for how many seconds of some slots is known what other subjects had. Slots
// of which much less is known of this one are unknown.
func (r *Record) turnTo(at Slot, known func(from, until Slot) float64) {
	if at <= r.Open {
		return
	}
	others := known(r.Open, r.Open+1)
	if r.Open == r.Since {
		others -= r.Late
	}
	missed := r.Open
	if r.Covered > 0 && r.Covered >= others/2 {
		r.Closed.set(r.Open, codesOf(&r.Mean))
		missed++
	}
	if missed < at && known(missed, at) > 0 {
		r.Closed.set(missed, unknown)
	}
	r.Open, r.Covered, r.Mean = at, 0, Amounts{}
}

// turnBack opens a slot that has ended again, and forgets what was after it. For a number of seconds of it is known what subjects had.
func (r *Record) turnBack(at Slot, known float64) {
	if at >= r.Open {
		return
	}
	if at < r.Since {
		r.Since, r.Late = at, known
	}
	late := 0.0
	if at == r.Since {
		late = min(r.Late, known)
	}
	mean, is := r.Closed.in(at)
	if r.Open, r.Covered, r.Mean = at, known-late, mean; !is {
		r.Covered = 0
	}
	r.Closed.Cut(at)
}

// count counts amounts for a number of seconds; nil is none.
func (r *Record) count(a *Amounts, seconds float64, step time.Duration) {
	all := r.Covered + seconds
	if all <= 0 {
		return
	}
	r.Mean.Scale(r.Covered / all)
	if a != nil {
		r.Mean.Add(a, seconds/all)
	}
	r.Covered = min(all, step.Seconds())
}

// Forget forgets all slots before one.
func (r *Record) Forget(before Slot) {
	if before <= r.Since {
		return
	}
	r.Since, r.Late = min(before, r.Open), 0
	r.Closed.Forget(r.Since)
}

// ForgetBefore forgets all slots of a subject before a time.
func (r *Record) ForgetBefore(at time.Time, of Subject) { r.Forget(slotOf(at, of.Step())) }
