package journal

import (
	"slices"
	"strconv"
	"time"
)

// most is how many entries a batch has at most, mostTaken how many are taken from it at a time, and mostPods how many
// pods it remembers to have counted.
const (
	most      = 20_000
	mostTaken = 2_000
	mostPods  = 400_000
)

// Batch collects entries that are not stored yet. The zero Batch is empty. It is not safe for concurrent use.
type Batch struct {
	entries map[string]Entry
	// pods has the pods that were counted in an hour, by their UIDs.
	pods map[string]int64
	hour int64
	// since is when the first of the entries of a class was added or, if that is earlier, when a gap began.
	since map[Class]time.Time
	// dropped is the first time of what did not fit, by class; zero if everything did.
	dropped map[Class]time.Time
}

// Add adds what happened to one pod, or one act, now, unless it is too old to be kept. uid is the UID of the pod of a resize.
func (b *Batch) Add(e Entry, uid string, now time.Time) {
	e = e.bounded()
	if now.Sub(e.End()) > Age {
		return
	}
	if b.entries == nil {
		b.entries, b.since, b.dropped = map[string]Entry{}, map[Class]time.Time{}, map[Class]time.Time{}
	}
	since := now
	if e.Kind == Gap && e.At.Before(now) {
		since = e.At // Nobody may say that all is stored until then before the gap is.
	}
	b.awaits(e.Kind.Class(), since)
	if e.Kind == Resize {
		hour := e.At.Truncate(time.Hour).Unix()
		e.Ref, e.Pod, e.Node = e.Reason+" "+strconv.FormatInt(hour, 10), "", ""
		e.Count, e.Pods = 1, b.count(uid, hour)
	}
	b.put(e, now)
}

// count returns 1 for a pod that was not counted in the hour yet, and 0 for others.
func (b *Batch) count(uid string, hour int64) int64 {
	if hour > b.hour || b.pods == nil || len(b.pods) >= mostPods {
		b.hour, b.pods = hour, map[string]int64{}
	}
	if b.pods[uid] == hour {
		return 0
	}
	b.pods[uid] = hour
	return 1
}

func (b *Batch) put(e Entry, now time.Time) {
	id := e.ID()
	known, has := b.entries[id]
	switch {
	case has:
		b.entries[id] = known.with(&e)
	case len(b.entries) < most || e.Kind.Class() == Acts && b.dropResize(now):
		b.entries[id] = e
	default:
		b.drop(e.Kind.Class(), e.At, now)
	}
}

// awaits notes that an entry of a class waits since a time, unless one does since an earlier one.
func (b *Batch) awaits(class Class, at time.Time) {
	if since, waits := b.since[class]; !waits || at.Before(since) {
		b.since[class] = at
	}
}

// dropResize drops a resize, and reports whether there was one.
func (b *Batch) dropResize(now time.Time) bool {
	for id, e := range b.entries {
		if e.Kind.Class() == Resizes {
			delete(b.entries, id)
			b.drop(Resizes, e.At, now)
			return true
		}
	}
	return false
}

// drop notes that an entry was dropped, which leaves a gap that waits from now on.
func (b *Batch) drop(class Class, at, now time.Time) {
	b.awaits(Acts, now)
	if first, dropped := b.dropped[class]; !dropped || at.Before(first) {
		b.dropped[class] = at
	}
}

// Since returns when the first of what Take returns of a class was added or, of a gap, when it began; false if there is nothing.
func (b *Batch) Since(class Class) (since time.Time, waits bool) {
	since, waits = b.since[class]
	return since, waits
}

// Acts returns the acts, in any order.
func (b *Batch) Acts() (acts []*Entry) {
	for _, e := range b.entries {
		if e.Kind.Class() == Acts {
			acts = append(acts, &e)
		}
	}
	return acts
}

// Take removes some entries of a class, in the order of their IDs, so that those of a workload are together. Those of
// acts include the gaps that dropped entries leave.
func (b *Batch) Take(class Class, now time.Time) (taken []Entry) {
	if class == Acts {
		for _, of := range []Class{Acts, Resizes} {
			if from, dropped := b.dropped[of]; dropped {
				taken = append(taken, NewGap(from, now, "NotStored", "the journal could not be stored for too long, and some "+string(of)+" of this time were dropped"))
				delete(b.dropped, of)
			}
		}
	}
	var ids []string
	for id, e := range b.entries {
		if e.Kind.Class() == class {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if len(ids) <= mostTaken {
		delete(b.since, class)
	}
	for _, id := range ids[:min(len(ids), mostTaken)] {
		taken = append(taken, b.entries[id])
		delete(b.entries, id)
	}
	return taken
}
