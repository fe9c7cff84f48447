package changelog

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"weak"
)

// Capacity is how many changes each log of the server keeps, so that readers can resume.
const Capacity = 16384

// Kind is the kind of a change.
type Kind int

const (
	// Added is an item that did not exist before.
	Added Kind = iota
	// Modified is an item that existed before and has changed.
	Modified
	// Deleted is an item that no longer exists.
	Deleted
)

// Event is one change. Its items must not be modified.
type Event[T any] struct {
	Kind Kind
	Key  string
	Item *T
	// Before is the item before the change; nil if there was none.
	Before *T
}

// Change sets or deletes the item of a key.
type Change[T any] struct {
	Key  string
	Item *T
	// Gone means that the item is deleted. The event then has Item or, if that is nil, the
	// last item.
	Gone bool
}

// Log has the current state of items of one kind, and their recent changes. All methods are
// safe for concurrent use.
type Log[T any] struct {
	// epoch distinguishes this log from all others, including the logs of other processes.
	epoch uint64

	// ring has the entry with number n at n modulo its length. It is read without a lock, so
	// that writers never wait for readers.
	ring []atomic.Pointer[entry[T]]
	// head is the number of the next event.
	head atomic.Uint64
	// changed is closed after the next event, if a reader awaits it.
	changed atomic.Pointer[chan struct{}]
	awaited atomic.Bool

	// order is how places are compared.
	order Order
	// since is the first place from which a log with ordered places has all changes; 0 if it
	// has none yet.
	since atomic.Uint64

	mu    sync.Mutex
	items map[string]*T
	// place is where the log is after the newest event.
	place Place
	// token is the token of place. It is written last.
	token atomic.Uint64

	snapshotting sync.Mutex
	snapshot     weak.Pointer[Snapshot[T]]
}

type entry[T any] struct {
	number uint64
	Event[T]
	// place is where the log is after the event. In the middle of an update, the log is still
	// where it was before.
	place  Place
	middle bool
}

// New returns an empty log that keeps the given number of recent events, at least 2.
func New[T any](capacity int, order Order) *Log[T] {
	var epoch [8]byte
	_, _ = rand.Read(epoch[:]) // Never fails.
	l := &Log[T]{epoch: binary.BigEndian.Uint64(epoch[:]), ring: make([]atomic.Pointer[entry[T]], capacity), order: order, items: map[string]*T{}}
	l.changed.Store(new(make(chan struct{})))
	return l
}

// Update applies changes that lead to a place. Readers see all of them together. Update
// determines whether an item is new; deleting an item that does not exist causes no event. An
// update without changes only moves the log to the place.
func (l *Log[T]) Update(to Place, changes ...Change[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.head.Load()
	next := before
	var last *entry[T]
	for _, c := range changes {
		old, known := l.items[c.Key]
		e := Event[T]{Added, c.Key, c.Item, old}
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
		last = &entry[T]{number: next, Event: e, place: l.place, middle: true}
		l.ring[next%uint64(len(l.ring))].Store(last)
		next++
	}
	if next == before {
		l.place = to
		l.token.Store(to.Token)
		return
	}
	// Only the last change leads there. No reader has it yet.
	last.place, last.middle, l.place = to, false, to
	l.head.Store(next)
	l.token.Store(to.Token)
	if l.awaited.Swap(false) {
		// In a goroutine, because closing takes longer the more readers wait.
		go close(*l.changed.Swap(new(make(chan struct{}))))
	}
}

// wait returns a channel that is closed after the event with this number, nil if the event
// exists. The order matters: writers read awaited after they set head, and replace the
// channel after that.
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
