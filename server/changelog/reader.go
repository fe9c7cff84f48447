package changelog

import "errors"

// ErrTooSlow means that the reader has fallen so far behind that events it has not read may
// be dropped.
var ErrTooSlow = errors.New("changes are read more slowly than they occur")

// Reader reads the events of a log in order. It is for one goroutine.
type Reader[T any] struct {
	log   *Log[T]
	scope string
	// next is the number of the next event to read.
	next uint64
	// first is the number of the first event after the reader was created.
	first uint64
	// most is how far behind the reader may be. A reader that begins far behind may first
	// catch up.
	most uint64
	// place is the token of the place after the events that were read.
	place uint64
}

// Begin returns the current state, and a reader of what follows. The scope is the part of the
// log that is of interest, e.g. a namespace. It must be the same when the reader's tokens are
// used.
func (l *Log[T]) Begin(scope string) (*Snapshot[T], *Reader[T]) {
	s := l.snap()
	return s, l.reader(scope, s.at, s.place)
}

// Resume returns a reader of what follows a token, of this log or of another replica's. The error
// is ErrMalformed or ErrExpired.
func (l *Log[T]) Resume(scope, token string) (*Reader[T], error) {
	t, err := parse(scope, token)
	if err != nil {
		return nil, err
	}
	if t.epoch != l.epoch {
		var ok bool
		if t.next, ok = l.find(t.place); !ok {
			return nil, ErrExpired
		}
	}
	next := t.next
	r := l.reader(scope, next, t.place)
	switch {
	case next > r.first:
		return nil, ErrMalformed
	case r.first-next > r.most:
		return nil, ErrExpired
	}
	return r, nil
}

func (l *Log[T]) reader(scope string, next, place uint64) *Reader[T] {
	return &Reader[T]{log: l, scope: scope, next: next, place: place, first: l.head.Load(), most: uint64(len(l.ring))}
}

// Next returns the next event or, if it does not exist yet, a channel that is closed when it
// does. The error is ErrTooSlow: either the reader is behind by more than half of what is
// kept and still has time to resume from its token, or its next event was already dropped.
func (r *Reader[T]) Next() (Event[T], <-chan struct{}, error) {
	l := r.log
	behind, half := l.head.Load()-r.next, uint64(len(l.ring)/2)
	switch {
	case behind > r.most:
		return Event[T]{}, nil, ErrTooSlow
	case behind <= half:
		r.most = half
	}
	if behind == 0 {
		// The log may have moved on without events. The order matters: this token is not of a
		// later event if there is none yet.
		place := l.token.Load()
		if more := l.wait(r.next); more != nil {
			if l.order == Versions {
				// The token that the reader resumed from may be ahead of this log.
				place = max(place, r.place)
			}
			r.place = place
			return Event[T]{}, more, nil
		}
	}
	e := l.ring[r.next%uint64(len(l.ring))].Load()
	if e.number != r.next {
		return Event[T]{}, nil, ErrTooSlow // Dropped just now.
	}
	r.next++
	r.place = e.place.Token
	return e.Event, nil, nil
}

// Current reports whether the reader has read all events that existed when it was created.
func (r *Reader[T]) Current() bool { return r.next >= r.first }

// Token returns the token to resume from after the events that were read.
func (r *Reader[T]) Token() string { return token{r.log.epoch, r.next, r.place}.text(r.scope) }
