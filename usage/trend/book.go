package trend

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// Kept is for how long slots are kept.
	Kept = 90 * day
	// mostBytes is how many bytes of changes are kept: those of 10,000 workloads that all change each day. If there are more, the oldest
	// slots are forgotten earlier.
	mostBytes = 12 << 20
	// patience is for how long a clock must be behind what was counted before that is forgotten, and not the clock wrong.
	patience = time.Hour
)

// Book has the records of a cluster.
type Book struct {
	records map[Subject]*Record
	// known is for how many seconds of each hour is known what the subjects had. An hour without any is not in it.
	known map[Slot]float64
	// counted is when the last count was; zero before the first one of this process.
	counted time.Time
	// behind is for how long the clock has been behind the newest hour that is known, and steady for how long it has not leapt ahead.
	behind, steady time.Duration
	// without is how many subjects had no room at the last count, and shortened is the time from which slots are kept if there is no room
	// for 90 days.
	without   int
	shortened time.Time
	// most and bytes are mostSubjects and mostBytes, except in tests.
	most, bytes int
}

// NewBook returns an empty book.
func NewBook() *Book {
	return &Book{records: map[Subject]*Record{}, known: map[Slot]float64{}, most: mostSubjects, bytes: mostBytes}
}

// Of returns the record of a subject; nil if there is none. It must not be modified.
func (b *Book) Of(of Subject) *Record { return b.records[of] }

// Known returns for how many seconds of each hour is known what the subjects had.
func (b *Book) Known() map[Slot]float64 { return maps.Clone(b.known) }

// Without returns how many subjects had no room for a record at the last count.
func (b *Book) Without() int { return b.without }

// Shortened returns the time from which slots are kept if there is no room for 90 days; zero if there is.
func (b *Book) Shortened() time.Time { return b.shortened }

// Put adds what was stored of a subject, as far as that can be. It may be ahead of the clock, about which Count decides.
func (b *Book) Put(of Subject, r *Record) {
	step := of.Step()
	if !(r.Covered > 0) || r.Open <= r.Closed.last {
		r.Covered, r.Mean = 0, Amounts{}
	}
	r.Covered = min(r.Covered, step.Seconds())
	r.Open = max(r.Open, r.Closed.last+1)
	r.Since = min(r.Since, r.Open)
	r.Late = min(max(r.Late, 0), step.Seconds())
	if r.Open*Slot(step/hour) < maxSlot && r.Open < maxSlot {
		b.records[of] = r
	}
}

// Knew adds for how many seconds of an hour was known what the subjects had.
func (b *Book) Knew(at Slot, seconds float64) {
	if seconds > 0 && at > 0 && at < maxSlot {
		b.known[at] = max(b.known[at], min(seconds, hour.Seconds()))
	}
}

// Replace adopts the records of another book of the subjects that it is about, and forgets those that it does not have. The other book
// must not be used after that.
func (b *Book) Replace(by *Book, about func(Subject) bool) {
	maps.DeleteFunc(b.records, func(of Subject, _ *Record) bool { return about(of) })
	for of, r := range by.records {
		if about(of) {
			b.records[of] = r
		}
	}
	if latest := by.newest(); latest > 0 { // A clock may have been ahead when others were stored.
		maps.DeleteFunc(b.known, func(at Slot, _ float64) bool { return at > latest || at < latest-Slot((Kept+2*day)/hour) })
	}
	for at, seconds := range by.known {
		b.known[at] = max(b.known[at], seconds)
	}
}

// Subjects returns the subjects that have a record, in their order.
func (b *Book) Subjects() []Subject { return slices.SortedFunc(maps.Keys(b.records), Subject.Compare) }

// Count counts what all subjects have had for some time until now. Those that have a record, and are not among them, had nothing. While
// the clock is behind what was counted before, nothing is counted, so that a clock that is wrong for less than an hour harms nothing.
func (b *Book) Count(now time.Time, lasted time.Duration, have map[Subject]*Amounts) {
	now = now.Round(0) // Whether this clock leaps shows only without its monotonic reading.
	at := slotOf(now, hour)
	if b.newest() > at {
		if b.behind += lasted; b.behind <= patience {
			return
		}
		b.turnBack(now)
	}
	b.behind = 0
	if b.steady += lasted; now.Sub(b.counted) > lasted+hour {
		b.steady = 0
	}
	b.turnTo(now)
	if slotOf(b.counted, hour) != at && b.steady > patience {
		b.forget(now)
	}
	b.counted = now
	b.start(now, have)
	b.known[at] = min(b.known[at]+lasted.Seconds(), hour.Seconds())
	for of, r := range b.records {
		r.count(have[of], lasted.Seconds(), of.Step())
	}
}

// newest returns the newest hour of which something is known.
func (b *Book) newest() (newest Slot) {
	for at := range b.known {
		newest = max(newest, at)
	}
	for of, r := range b.records {
		newest = max(newest, r.Open*Slot(of.Step()/hour))
	}
	return newest
}

// turnTo opens the slots of a time. A record may not have what others have of the time before: it was stored or read earlier.
func (b *Book) turnTo(now time.Time) {
	known := func(step time.Duration) func(from, until Slot) float64 {
		hours := Slot(step / hour)
		return func(from, until Slot) (seconds float64) {
			if until == from+1 {
				return b.seconds(from, step)
			}
			for h, s := range b.known {
				if h >= from*hours && h < until*hours {
					seconds += s
				}
			}
			return seconds
		}
	}
	for of, r := range b.records {
		r.turnTo(slotOf(now, of.Step()), known(of.Step()))
	}
}

// turnBack forgets what was counted after now: that clock was ahead.
func (b *Book) turnBack(now time.Time) {
	maps.DeleteFunc(b.known, func(at Slot, _ float64) bool { return at > slotOf(now, hour) })
	for of, r := range b.records {
		at := slotOf(now, of.Step())
		r.turnBack(at, b.seconds(at, of.Step()))
	}
}

// seconds returns for how many seconds of a slot is known what the subjects had.
func (b *Book) seconds(of Slot, step time.Duration) (seconds float64) {
	hours := Slot(step / hour)
	for at := of * hours; at < (of+1)*hours; at++ {
		seconds += b.known[at]
	}
	return seconds
}

// start begins records, as far as there is room. Nothing is known of the time before.
func (b *Book) start(now time.Time, have map[Subject]*Amounts) {
	var fresh []Subject
	for of := range have {
		if b.records[of] == nil {
			fresh = append(fresh, of)
		}
	}
	admitted := b.admit(now, fresh, have)
	b.without = len(fresh) - len(admitted)
	late := map[time.Duration]float64{}
	for _, step := range []time.Duration{hour, day} {
		late[step] = b.seconds(slotOf(now, step), step)
	}
	for _, of := range admitted {
		at := slotOf(now, of.Step())
		b.records[of] = &Record{Since: at, Late: late[of.Step()], Open: at}
	}
}

// forget forgets what is too old at a time, and what there is no room for.
func (b *Book) forget(now time.Time) {
	oldest, bytes := now.Add(-Kept), 0
	for _, r := range b.records {
		bytes += len(r.Closed.changes)
	}
	if b.shortened.Before(oldest) {
		b.shortened = time.Time{}
	}
	if bytes > b.bytes {
		oldest = b.fits(bytes)
		b.shortened = oldest
	}
	maps.DeleteFunc(b.known, func(at Slot, _ float64) bool { return at < slotOf(oldest, hour) })
	for of, r := range b.records {
		// All changes are written again for that, so not in each hour.
		if r.Since <= slotOf(oldest.Add(-day), of.Step()) || bytes > b.bytes {
			r.ForgetBefore(oldest, of)
		}
		if of != (Subject{}) && r.Mean == (Amounts{}) && r.Closed.Empty(slotOf(oldest, of.Step())) {
			delete(b.records, of)
		}
	}
}

// fits returns the time from which changes fit into nine tenths of their room, so that it is rare that they do not.
func (b *Book) fits(bytes int) time.Time {
	perDay := map[Slot]int{}
	for of, r := range b.records {
		before := len(r.Closed.changes)
		for change, err := range each(r.Closed.changes) {
			if err != nil {
				break
			}
			perDay[change.at*Slot(of.Step()/hour)/24] += before - change.rest
			before = change.rest
		}
	}
	days := slices.Sorted(maps.Keys(perDay))
	for _, at := range days {
		if bytes -= perDay[at]; bytes <= b.bytes/10*9 {
			return begin(at+1, day)
		}
	}
	return begin(days[len(days)-1]+1, day)
}

// ended returns when a subject that has nothing began to have nothing.
func (b *Book) ended(of Subject) time.Time {
	r, step := b.records[of], of.Step()
	if r == nil {
		return time.Time{}
	}
	if r.Mean == (Amounts{}) && r.Closed.codes == (codes{}) {
		return begin(r.Closed.last, step)
	}
	return begin(r.Open, step)
}

// latest orders subjects by when they ended, the last one first.
func (b *Book) latest(x, y Subject) int {
	return cmp.Or(b.ended(y).Compare(b.ended(x)), x.Compare(y))
}
