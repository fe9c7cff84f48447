package journal

import (
	"slices"
	"time"
)

// Segment is a part of the journal, with entries of one class. It is immutable. A nil segment is empty.
type Segment struct {
	Class Class
	// Number counts the segments of all classes: a later one has a higher number.
	Number int64
	// Batch identifies the entries that were added last, so that they are not counted twice if the answer to
	// the write was lost.
	Batch string
	// Entries are ordered by time, the oldest first.
	Entries []Entry
}

func (s *Segment) len() int {
	if s == nil {
		return 0
	}
	return len(s.Entries)
}

// With returns the segment with a batch of entries of its class, and without those that are too old.
func (s *Segment) With(batch string, entries []Entry, now time.Time) *Segment {
	next := &Segment{Class: s.Class, Number: s.Number, Batch: batch, Entries: make([]Entry, 0, len(s.Entries)+len(entries))}
	at := make(map[string]int, len(entries))
	for i := range entries {
		at[entries[i].ID()] = -1
	}
	for i := range s.Entries {
		e := &s.Entries[i]
		if now.Sub(e.End()) > Age {
			continue
		}
		if id := e.ID(); at[id] == -1 {
			at[id] = len(next.Entries)
		}
		next.Entries = append(next.Entries, *e)
	}
	for i := range entries {
		id := entries[i].ID()
		if known := at[id]; known >= 0 {
			next.Entries[known] = next.Entries[known].with(&entries[i])
			continue
		}
		at[id] = len(next.Entries)
		next.Entries = append(next.Entries, entries[i])
	}
	slices.SortStableFunc(next.Entries, func(a, b Entry) int { return a.At.Compare(b.At) })
	return next
}

// over reports whether the segment has no entry that is still kept.
func (s *Segment) over(now time.Time) bool {
	return s == nil || !slices.ContainsFunc(s.Entries, func(e Entry) bool { return now.Sub(e.End()) <= Age })
}

// Slots is how many segments there are at most, of which acts take at most all except two.
const Slots = 16

// Book has the segments by slot; nil for those that are empty.
type Book [Slots]*Segment

// Open returns the slot of the segment that new entries of a class belong to; false if there is none.
func (b *Book) Open(class Class) (slot int, ok bool) {
	for i, s := range b {
		if s != nil && s.Class == class && (!ok || s.Number > b[slot].Number) {
			slot, ok = i, true
		}
	}
	return slot, ok
}

// Next returns a segment to begin for a class, and the slot that it belongs in. If that has entries that are still
// kept, they are dropped. usable reports which slots can be written. It returns false if there is no slot.
func (b *Book) Next(class Class, usable func(slot int) bool, now time.Time) (slot int, next *Segment, ok bool) {
	number, acts := int64(0), 0
	free, oldest := -1, map[Class]int{}
	for i, s := range b {
		if s != nil {
			number = max(number, s.Number)
		}
		if !usable(i) {
			continue
		}
		if s.over(now) {
			if free < 0 {
				free = i
			}
			continue
		}
		if s.Class == Acts {
			acts++
		}
		if at, known := oldest[s.Class]; !known || s.Number < b[at].Number {
			oldest[s.Class] = i
		}
	}
	next = &Segment{Class: class, Number: number + 1}
	drop := Resizes
	if class == Acts && acts >= Slots-2 {
		drop, free = Acts, -1
	}
	if free >= 0 {
		return free, next, true
	}
	slot, ok = oldest[drop]
	return slot, next, ok
}
