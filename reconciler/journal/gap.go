package journal

import (
	"fmt"
	"time"
)

// Mark says how far a leader has recorded.
type Mark struct {
	// Until is the time up to which everything is stored, in whole seconds; zero if there is no mark.
	Until time.Time
	// Writer is the name of the replica that recorded.
	Writer string
	// Ended means that the replica has stored all that it knew before it stopped recording.
	Ended bool
}

// Takeover is how long no replica may record without a gap, if the last one has ended in order. Usually, the next one
// leads within seconds.
const Takeover = time.Minute

// Since returns the gap between what the mark says and the time at which another replica begins to record; false if
// there is none.
func (m Mark) Since(now time.Time) (Entry, bool) {
	switch {
	case m.Until.IsZero():
	case !m.Ended:
		from, until := m.Until, now
		if until.Before(from) { // Their clocks differ.
			from, until = until, from
		}
		return NewGap(from, until, "NotStored", "the replica that recorded ended before it had stored everything, and what happened until another one recorded is not known"), true
	case now.Sub(m.Until) > Takeover:
		return NewGap(m.Until, now, "NotRecorded", "no replica recorded"), true
	}
	return Entry{}, false
}

// NewGap returns the entry for a gap. It does not begin before entries are kept.
func NewGap(from, until time.Time, reason, message string) Entry {
	from, until = seconds(from), seconds(until)
	if oldest := until.Add(-Age); from.Before(oldest) {
		from = oldest
	}
	if until.Before(from) {
		until = from
	}
	return Entry{Kind: Gap, At: from, Last: until, Reason: reason, Message: message, Ref: fmt.Sprintf("%d %d %s", from.Unix(), until.Unix(), message)}
}

// Dropped returns the gap that is left by entries which are dropped to make room; false if there are none.
func (s *Segment) Dropped(now time.Time) (Entry, bool) {
	if s.over(now) {
		return Entry{}, false
	}
	what := "resizes"
	if s.Class == Acts {
		what = "reverts, evictions and what people did"
	}
	until := s.Entries[0].End()
	for i := range s.Entries {
		if end := s.Entries[i].End(); end.After(until) {
			until = end
		}
	}
	return NewGap(s.Entries[0].At, until, "Full", "the journal was full: "+what+" of this time were dropped"), true
}

func seconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
