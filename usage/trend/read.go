package trend

import "time"

// Sum is what a subject had in some time.
type Sum struct {
	// From is when the time begins, and Until when it ends.
	From, Until time.Time
	// Known is for how much of it is known what the subject had, and Amounts are the means over that.
	Known time.Duration
	// Begins means that nothing is known of the beginning.
	Begins bool
	Amounts
}

// Reader reads what a book has of the times between some times. A change to the book in the meantime shows in what it reads then.
type Reader struct {
	times []time.Time
	now   time.Time
	// first is an hour, and known has for how many seconds is known what the subjects had from then until each hour.
	first Slot
	known []float64
}

// Read returns a reader. The times are in their order, and at least two.
func (b *Book) Read(times []time.Time, now time.Time) *Reader {
	r := &Reader{times: times, now: now, first: slotOf(times[0].Truncate(day), hour)}
	end := max(slotOf(times[len(times)-1].Add(day-1).Truncate(day), hour), r.first)
	r.known = make([]float64, 1, 1+end-r.first)
	for at := r.first; at < end; at++ {
		r.known = append(r.known, r.known[len(r.known)-1]+b.known[at])
	}
	return r
}

// seconds returns for how many seconds of some slots is known what the subjects had.
func (r *Reader) seconds(from, until Slot, step time.Duration) float64 {
	hours := Slot(step / hour)
	at := func(slot Slot) float64 { return r.known[min(max(slot*hours-r.first, 0), Slot(len(r.known)-1))] }
	return at(until) - at(from)
}

// of returns for how many seconds of some slots is known what the subject of a record had, if they are not unknown.
func (r *Reader) of(record *Record, from, until Slot, step time.Duration) (seconds float64) {
	if closed := min(until, record.Open); closed > max(from, record.Since) {
		seconds = r.seconds(max(from, record.Since), closed, step)
		if from <= record.Since {
			seconds = max(seconds-record.Late, 0)
		}
	}
	if from <= record.Open && record.Open < until {
		seconds += record.Covered
	}
	return seconds
}

// Over returns what a subject of the book had in each of the times, which are extended to whole slots, but not into the future. The record
// is nil if there is none.
func (r *Reader) Over(of Subject, record *Record) []Sum {
	step, sums := of.Step(), make([]Sum, len(r.times)-1)
	slots := make([][2]Slot, len(sums))
	for i := range sums {
		slots[i] = [2]Slot{slotOf(r.times[i], step), slotOf(r.times[i+1].Add(step-1), step)}
		sums[i].From, sums[i].Until = begin(slots[i][0], step), begin(slots[i][1], step)
		if sums[i].Until.After(r.now) {
			sums[i].Until = r.now.UTC()
		}
		sums[i].Begins = record == nil || record.Since > slots[i][0] || record.Since == slots[i][0] && record.Late > 0
	}
	if record == nil {
		return sums
	}
	known := make([]float64, len(sums))
	first := 0 // of the times that have not ended before the span
	add := func(span Span) {
		span.supposePrices()
		for first < len(slots) && slots[first][1] <= span.From {
			first++
		}
		for i := first; i < len(slots) && slots[i][0] < span.Until; i++ {
			if from, until := max(span.From, slots[i][0]), min(span.Until, slots[i][1]); from < until {
				seconds := r.of(record, from, until, step)
				sums[i].Add(&span.Amounts, seconds)
				known[i] += seconds
			}
		}
	}
	begins, ends := slots[0][0], slots[len(slots)-1][1]
	for span := range record.Closed.Spans(begins, min(ends, record.Open)) {
		if !span.Unknown {
			add(span)
		}
	}
	if begins <= record.Open && record.Open < ends {
		add(Span{From: record.Open, Until: record.Open + 1, Amounts: record.Mean})
	}
	for i, seconds := range known {
		if sums[i].Known = time.Duration(seconds * float64(time.Second)); seconds > 0 {
			sums[i].Scale(1 / seconds)
		}
	}
	return sums
}

// Total adds up what several subjects had in the same time.
type Total struct {
	// Sum is about no subject at first.
	Sum
	// late is what those had that begin in the time, times the seconds.
	late Amounts
	// priced and unpriced are for how many seconds a subject had pods with and without prices, at most. Prices are of the cluster, so that
	// subjects do not add up.
	priced, unpriced float64
}

// Add adds what a subject had. Of one that begins, or was lost before, the rest of the time
// counts as nothing, and of others like the part that is known.
func (t *Total) Add(o *Sum) {
	if t.Known = max(t.Known, o.Known); o.Begins {
		t.late.Add(&o.Amounts, o.Known.Seconds())
	} else {
		t.Amounts.Add(&o.Amounts, 1)
	}
	t.priced, t.unpriced = max(t.priced, o.Priced*o.Known.Seconds()), max(t.unpriced, o.Unpriced*o.Known.Seconds())
}

// End returns the sum.
func (t *Total) End() Sum {
	if t.Known > 0 {
		t.Amounts.Add(&t.late, 1/t.Known.Seconds())
		t.Priced, t.Unpriced = t.priced/t.Known.Seconds(), t.unpriced/t.Known.Seconds()
	}
	return t.Sum
}
