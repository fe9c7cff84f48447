package trend

import (
	"encoding/binary"
	"errors"
	"iter"
	"math/bits"
)

// Slot is an hour or a day, as a number since 1970.
type Slot int64

// Series has the amounts of slots that have ended. The zero value has none. A slot without a change has the amounts of the slot
// before.
type Series struct {
	// changes has each change: how many slots after the one before it is, which fields change, and by what. The first one is after
	// slot 0, when all fields are 0.
	changes []byte
	// last is the slot of the last change, and codes are the amounts since then.
	last  Slot
	codes codes
}

// errBytes means that bytes are no series.
var errBytes = errors.New("the changes are damaged")

// Parse returns the series that has these changes.
func Parse(changes []byte) (Series, error) {
	s := Series{changes: changes}
	for change, err := range each(changes) {
		if err != nil {
			return Series{}, err
		}
		s.last, s.codes = change.at, change.codes
	}
	return s, nil
}

// Changes returns the changes, which must not be modified.
func (s *Series) Changes() []byte { return s.changes }

// set sets what a slot had that is later than all slots that were set.
func (s *Series) set(at Slot, c codes) {
	if c == s.codes || at <= s.last {
		return
	}
	if cap(s.changes)-len(s.changes) < longest {
		// There are many series, which grow slowly: append would leave more room than they need.
		s.changes = append(make([]byte, 0, len(s.changes)+longest), s.changes...)
	}
	s.changes = binary.AppendUvarint(s.changes, uint64(at-s.last))
	mask := uint64(0)
	for i := range c {
		if c[i] != s.codes[i] {
			mask |= 1 << i
		}
	}
	s.changes = binary.AppendUvarint(s.changes, mask)
	for i := range c {
		if mask&(1<<i) != 0 {
			s.changes = binary.AppendVarint(s.changes, int64(c[i])-int64(s.codes[i]))
		}
	}
	s.last, s.codes = at, c
}

// First returns the slot of the first change; 0 if there is none.
func (s *Series) First() Slot {
	first, _ := binary.Uvarint(s.changes)
	return Slot(first)
}

// Span is a number of slots with the same amounts.
type Span struct {
	// From is the first slot, and Until the one after the last.
	From, Until Slot
	// Unknown means that nothing is known of them.
	Unknown bool
	Amounts
}

// Spans returns what the slots of a time had, in their order. Slots before the first change have no amounts, and those after the last
// one the amounts since then.
func (s *Series) Spans(from, until Slot) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		var now codes
		at := from
		for change, err := range each(s.changes) {
			if err != nil || change.at >= until {
				break
			}
			if change.at > at {
				if !yield(Span{at, change.at, now == unknown, now.amounts()}) {
					return
				}
				at = change.at
			}
			now = change.codes
		}
		if at < until {
			yield(Span{at, until, now == unknown, now.amounts()})
		}
	}
}

// Forget forgets all slots before one.
func (s *Series) Forget(before Slot) {
	kept := Series{changes: make([]byte, 0, len(s.changes)+longest)}
	var now codes
	for change, err := range each(s.changes) {
		if err != nil {
			break
		}
		if change.at > before && kept.last == 0 {
			kept.set(before, now)
		}
		if now = change.codes; change.at >= before {
			kept.set(change.at, now)
		}
	}
	if kept.last == 0 {
		kept.set(before, now)
	}
	*s = kept
}

// Cut forgets all slots from one on.
func (s *Series) Cut(from Slot) {
	var kept Series
	for change, err := range each(s.changes) {
		if err != nil || change.at >= from {
			break
		}
		kept.set(change.at, change.codes)
	}
	*s = kept
}

// in returns what a slot had, if that is known.
func (s *Series) in(slot Slot) (a Amounts, known bool) {
	var now codes
	for change, err := range each(s.changes) {
		if err != nil || change.at > slot {
			break
		}
		now = change.codes
	}
	if now == unknown {
		return Amounts{}, false
	}
	return now.amounts(), true
}

// Empty reports whether all amounts of the slots from one on are 0.
func (s *Series) Empty(from Slot) bool { return s.codes == codes{} && s.last <= from }

// change is the amounts from a slot on.
type change struct {
	at    Slot
	codes codes
	// rest is how many bytes follow it.
	rest int
}

// each returns the changes in bytes, or an error.
func each(changes []byte) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		var now change
		for rest := changes; len(rest) > 0; {
			later, n := binary.Uvarint(rest)
			if n <= 0 || later == 0 || later > maxSlot-uint64(now.at) {
				yield(change{}, errBytes)
				return
			}
			rest = rest[n:]
			mask, n := binary.Uvarint(rest)
			if n <= 0 || mask == 0 || bits.Len64(mask) > mostFields {
				yield(change{}, errBytes)
				return
			}
			rest = rest[n:]
			now.at += Slot(later)
			for ; mask != 0; mask &= mask - 1 {
				i := bits.TrailingZeros64(mask)
				difference, n := binary.Varint(rest)
				if n <= 0 {
					yield(change{}, errBytes)
					return
				}
				if rest = rest[n:]; i >= fields {
					continue // A later version has more.
				}
				code := int64(now.codes[i]) + difference
				if difference == 0 || code != int64(int16(code)) {
					yield(change{}, errBytes)
					return
				}
				now.codes[i] = int16(code)
			}
			now.rest = len(rest)
			if !yield(now, nil) {
				return
			}
		}
	}
}

const (
	// maxSlot is more than any slot: an hour in the year 4000.
	maxSlot = 18_000_000
	// mostFields is how many fields a later version may have.
	mostFields = 32
	// longest is how many bytes a change has at most.
	longest = 4 + 3 + 3*fields
)
