package changelog

// Place is where a log is, in terms that the logs of all replicas share, so that a reader can
// continue with another replica. The zero Place is not shared.
type Place struct {
	// Token is the place that tokens name. It may be earlier than Reached; then a reader that
	// continues with another replica may get changes twice.
	Token uint64
	// Reached is the place itself.
	Reached uint64
}

// Order is how the places of a log are compared.
type Order int

const (
	// Digests are places that identify a state of all items. A reader continues after the
	// newest time at which the log had that state.
	Digests Order = iota
	// Versions are places that only increase. A reader continues with the first event that
	// reached its place.
	Versions
)

// Since says that the log has all changes since a place, but perhaps not all earlier ones. It is
// for logs of Versions; until the first call, no reader of another replica can continue.
func (l *Log[T]) Since(reached uint64) { l.since.Store(reached) }

// find returns the number of the first event for a reader that comes from another replica with a
// token; false if the log does not have all changes since then.
func (l *Log[T]) find(token uint64) (next uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if token == 0 {
		return 0, false
	}
	head := l.head.Load()
	oldest := head - min(head, uint64(len(l.ring)))
	at := func(number uint64) *entry[T] { return l.ring[number%uint64(len(l.ring))].Load() }
	if l.order == Digests {
		for n := head; n > oldest; n-- {
			if e := at(n - 1); !e.middle && e.place.Reached == token {
				return n, true
			}
		}
		return 0, false
	}
	if since := l.since.Load(); since == 0 || token < since {
		return 0, false
	}
	next = head
	for next > oldest && at(next-1).place.Reached >= token {
		next--
	}
	// If the oldest event is the first one, an earlier one may have been dropped.
	return next, next > oldest || oldest == 0
}
