package changelog

import (
	"cmp"
	"slices"
	"weak"
)

// Snapshot is the state of a log at one time.
type Snapshot[T any] struct {
	// Items are ordered by key, each as an event that adds the item.
	Items []Event[T]
	// at is the number of the first event that is not included.
	at uint64
	// place is the token of the place of the snapshot.
	place uint64
}

const (
	// sharedFrom is the number of items from which readers that begin at about the same time
	// share a snapshot: a thousand separate snapshots would fill the memory.
	sharedFrom = 1024
	// sharedFor limits the age of a shared snapshot: it may lack up to 1/sharedFor of the
	// events in the ring, which follow it.
	sharedFor = 16
)

// snap returns the current state, or a recent one that another reader still uses.
func (l *Log[T]) snap() *Snapshot[T] {
	l.snapshotting.Lock()
	defer l.snapshotting.Unlock()
	if s := l.snapshot.Value(); s != nil && len(s.Items) >= sharedFrom && l.head.Load()-s.at <= uint64(len(l.ring)/sharedFor) {
		return s
	}
	l.mu.Lock()
	s := &Snapshot[T]{Items: make([]Event[T], 0, len(l.items)), at: l.head.Load(), place: l.place.Token}
	for key, item := range l.items {
		s.Items = append(s.Items, Event[T]{Added, key, item, nil})
	}
	l.mu.Unlock()
	slices.SortFunc(s.Items, func(a, b Event[T]) int { return cmp.Compare(a.Key, b.Key) })
	l.snapshot = weak.Make(s)
	return s
}
