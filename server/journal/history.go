package journal

import (
	"encoding/binary"
	"hash/fnv"
	"sync"

	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/server/changelog"
)

// history is a log of the entries by their IDs. Its places are digests of what is stored, which all replicas share.
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
	for i := range now {
		if now[i] != h.book[i] {
			collect(before, h.book[i])
			collect(after, now[i])
		}
	}
	var changes []changelog.Change[journal.Entry]
	for id, e := range after {
		if was := before[id]; was == nil || *was != *e {
			changes = append(changes, changelog.Change[journal.Entry]{Key: id, Item: e})
		}
	}
	for id := range before {
		if after[id] == nil {
			changes = append(changes, changelog.Change[journal.Entry]{Key: id, Gone: true})
		}
	}
	h.book = now
	place := digest(now)
	h.Update(changelog.Place{Token: place, Reached: place}, changes...)
}

func collect(into map[string]*journal.Entry, s *journal.Segment) {
	if s == nil {
		return
	}
	for i := range s.Entries {
		into[s.Entries[i].ID()] = &s.Entries[i]
	}
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
