package changelog

import (
	"cmp"
	"slices"
	"weak"
)

// Snapshot is the state of a log at some time.
type Snapshot[T any] struct {
	// Items are in the order of their keys, each as an event that adds it.
	Items []Event[T]
	// at is the number of the first event that is not in it.
	at uint64
}

const (
	// sharedFrom is from how many items on a snapshot is used again for those who
	// begin at about the same time: a thousand of them would fill the memory.
	sharedFrom = 1024
	// sharedFor is how many events of the ring, as one part of so many, it may
	// lack then. They follow.
	sharedFor = 16
)

// snap returns the present state, or that of a little while ago which somebody
// else uses still.
func (l *Log[T]) snap() *Snapshot[T] {
	l.snapshotting.Lock()
	defer l.snapshotting.Unlock()
	if s := l.snapshot.Value(); s != nil && len(s.Items) >= sharedFrom && l.head.Load()-s.at <= uint64(len(l.ring)/sharedFor) {
		return s
	}
	l.mu.Lock()
	s := &Snapshot[T]{Items: make([]Event[T], 0, len(l.items)), at: l.head.Load()}
	for key, item := range l.items {
		s.Items = append(s.Items, Event[T]{Added, key, item})
	}
	l.mu.Unlock()
	slices.SortFunc(s.Items, func(a, b Event[T]) int { return cmp.Compare(a.Key, b.Key) })
	l.snapshot = weak.Make(s)
	return s
}
