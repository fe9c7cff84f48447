package changelog

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"weak"
)

// Capacity is how many changes the logs of a server keep to resume from.
const Capacity = 16384

// Kind is what has become of an item.
type Kind int

const (
	// Added is an item that was not there before.
	Added Kind = iota
	// Modified is an item that was there, and is another now.
	Modified
	// Deleted is an item that is gone.
	Deleted
)

// Event is one change. Nobody changes its item.
type Event[T any] struct {
	Kind Kind
	Key  string
	Item *T
}

// Change says what the item of a key is now.
type Change[T any] struct {
	Key  string
	Item *T
	// Gone tells that there is none any more; the event has Item then, or what it
	// was before if that is nil.
	Gone bool
}

// Log is the state of items of a kind, and its last changes. All methods may be
// called at any time from any goroutine.
type Log[T any] struct {
	// epoch tells this log from all others, those of other processes too.
	epoch uint64

	// ring has the entry of number n at n modulo its length. It is read without
	// a lock, so that who writes never waits for those who read.
	ring []atomic.Pointer[entry[T]]
	// head is the number of the next event.
	head atomic.Uint64
	// changed is closed after the next event, if anybody awaits that.
	changed atomic.Pointer[chan struct{}]
	awaited atomic.Bool

	mu    sync.Mutex
	items map[string]*T

	snapshotting sync.Mutex
	snapshot     weak.Pointer[Snapshot[T]]
}

type entry[T any] struct {
	number uint64
	Event[T]
}

// New returns an empty log that keeps so many of its last events, at least 2.
func New[T any](capacity int) *Log[T] {
	var epoch [8]byte
	_, _ = rand.Read(epoch[:]) // It never fails.
	l := &Log[T]{epoch: binary.BigEndian.Uint64(epoch[:]), ring: make([]atomic.Pointer[entry[T]], capacity), items: map[string]*T{}}
	l.changed.Store(new(make(chan struct{})))
	return l
}

// Update changes items, all at once for those who read. Whether an item is new is
// found out here; that nothing goes is no event.
func (l *Log[T]) Update(changes ...Change[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.head.Load()
	next := before
	for _, c := range changes {
		old, known := l.items[c.Key]
		e := Event[T]{Added, c.Key, c.Item}
		switch {
		case c.Gone && !known:
			continue
		case c.Gone:
			e.Kind = Deleted
			if c.Item == nil {
				e.Item = old
			}
			delete(l.items, c.Key)
		default:
			if known {
				e.Kind = Modified
			}
			l.items[c.Key] = c.Item
		}
		l.ring[next%uint64(len(l.ring))].Store(&entry[T]{next, e})
		next++
	}
	if next == before {
		return
	}
	l.head.Store(next)
	if l.awaited.Swap(false) {
		// Not here: it takes longer the more there are that wait.
		go close(*l.changed.Swap(new(make(chan struct{}))))
	}
}

// wait returns a channel that is closed after the event of this number; nil if it
// is there. The order matters: who writes asks for awaited after head is set, and
// takes the channel away after that.
func (l *Log[T]) wait(number uint64) <-chan struct{} {
	changed := *l.changed.Load()
	l.awaited.Store(true)
	if l.head.Load() != number {
		return nil
	}
	return changed
}

// Get returns the item of a key, nil if there is none.
func (l *Log[T]) Get(key string) *T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.items[key]
}
