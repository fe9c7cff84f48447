package journal

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/server/changelog"
)

// history is a log of the entries. Its places are digests of what is stored, which all replicas share.
type history struct {
	*changelog.Log[journal.Entry]

	mu sync.Mutex
	// book is what the log has, once it was taken.
	book  journal.Book
	taken bool
}

// once takes what is stored, if nothing was taken yet.
func (h *history) once(book func() journal.Book) {
	h.mu.Lock()
	taken := h.taken
	h.mu.Unlock()
	if !taken {
		h.take(book)
	}
}

// take moves the log to what is stored now.
func (h *history) take(book func() journal.Book) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := book()
	if h.taken && now == h.book {
		return
	}
	h.taken = true
	before, after := map[string]*journal.Entry{}, map[string]*journal.Entry{}
	acts := false
	for i := range now {
		if now[i] == h.book[i] {
			continue
		}
		collect(before, h.book[i])
		collect(after, now[i])
		acts = acts || isOfActs(h.book[i]) || isOfActs(now[i])
	}
	if acts {
		collectActs(before, h.book)
		collectActs(after, now)
	}
	var gone, changes []changelog.Change[journal.Entry]
	for key := range before {
		if after[key] == nil {
			gone = append(gone, changelog.Change[journal.Entry]{Key: key, Gone: true})
		}
	}
	for key, e := range after {
		if was := before[key]; was == nil || *was != *e {
			changes = append(changes, changelog.Change[journal.Entry]{Key: key, Item: e})
		}
	}
	slices.SortFunc(changes, func(a, b changelog.Change[journal.Entry]) int { return cmp.Compare(a.Key, b.Key) })
	h.book = now
	place := digest(now)
	h.Update(changelog.Place{Token: place, Reached: place}, append(gone, changes...)...)
}

func isOfActs(s *journal.Segment) bool { return s != nil && s.Class == journal.Acts }

// collect collects the resizes of a segment by their keys. Another segment may have other resizes of the same hour.
func collect(into map[string]*journal.Entry, s *journal.Segment) {
	if s == nil || s.Class != journal.Resizes {
		return
	}
	for i := range s.Entries {
		into[keyOf(&s.Entries[i], s.Number)] = &s.Entries[i]
	}
}

// collectActs collects the acts of a journal, which may be in several of its segments.
func collectActs(into map[string]*journal.Entry, book journal.Book) {
	for _, e := range journal.ActsOf(book[:]) {
		into[keyOf(e, 0)] = e
	}
}

// keyOf returns the key of an entry. The log sends its initial state in the order of the keys.
func keyOf(e *journal.Entry, segment int64) string {
	return fmt.Sprintf("%012d %d %s", e.At.Unix(), segment, e.ID())
}

// digest identifies what is stored. Each batch that is added to a segment changes it.
func digest(book journal.Book) uint64 {
	h := fnv.New64a()
	for i, s := range book {
		if s == nil {
			continue
		}
		var head [16]byte
		binary.BigEndian.PutUint64(head[:], uint64(i))
		binary.BigEndian.PutUint64(head[8:], uint64(s.Number))
		h.Write(head[:])
		h.Write([]byte(s.Batch))
	}
	return max(1, h.Sum64()) // 0 would be no place.
}
