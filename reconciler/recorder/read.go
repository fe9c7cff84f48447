package recorder

import (
	"errors"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
)

// Ready returns an error until the journal was read. It lacks what cannot be read.
func (r *Recorder) Ready() error {
	if r == nil {
		return errNone
	}
	for _, s := range r.slots {
		if err := s.document.Err(); errors.Is(err, document.ErrUnread) {
			return err
		}
	}
	return nil
}

// Missing returns an error if the journal cannot be stored because a ConfigMap does not exist.
func (r *Recorder) Missing() error {
	for _, s := range r.slots {
		if err := s.document.Missing(); err != nil {
			return err
		}
	}
	return nil
}

// Err returns why entries are missing in the journal; nil if none are.
func (r *Recorder) Err() error {
	for _, s := range r.slots {
		if err := s.document.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Watch returns a channel that receives after the journal has changed. Changes that happen faster than they are received
// are merged into one.
func (r *Recorder) Watch() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.changes.Watch()
}

var errNone = errors.New("the server has no journal")

// Book returns the segments that are stored.
func (r *Recorder) Book() journal.Book {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book
}

// Entries returns what is stored, the newest first. It must not be changed.
func (r *Recorder) Entries() []*journal.Entry {
	r.mu.Lock()
	book, sorted := r.book, r.sorted
	r.mu.Unlock()
	if sorted != nil {
		return current(sorted, r.config.Clock.Now())
	}
	now := r.config.Clock.Now()
	sorted = journal.Sorted(book[:], now)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.book == book {
		r.sorted = sorted
	}
	return sorted
}

// current returns the entries that are still kept. Only the oldest ones may not be.
func current(sorted []*journal.Entry, now time.Time) []*journal.Entry {
	if n := len(sorted); n == 0 || now.Sub(sorted[n-1].End()) <= journal.Age {
		return sorted
	}
	return slices.DeleteFunc(slices.Clone(sorted), func(e *journal.Entry) bool { return now.Sub(e.End()) > journal.Age })
}

// known returns the acts of the last batches and of the journal, the newest first.
func (r *Recorder) known() []*journal.Entry {
	stored := r.Entries()
	r.mu.Lock()
	waiting := r.pending.Acts()
	r.mu.Unlock()
	if b := r.writing[journal.Acts]; b != nil {
		for i := range b.entries {
			waiting = append(waiting, &b.entries[i])
		}
	}
	if len(waiting) == 0 {
		return stored
	}
	all := slices.Concat(waiting, stored)
	slices.SortStableFunc(all, func(a, b *journal.Entry) int { return b.At.Compare(a.At) })
	return all
}
