package samples

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// All returns all samples, by node type, and a revision of them, which grows with
// every change. Nobody may change them. It costs nothing while nothing changes.
func (s *Store) All() (all []sample.Sample, revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = flat(s.contents[:])
	}
	return s.all, s.revision
}

// flat lists the samples of contents by node type; it is never nil.
func flat(contents []content) []sample.Sample {
	entries, total := content{}, 0
	for _, c := range contents {
		maps.Copy(entries, c)
		total += c.count()
	}
	all := make([]sample.Sample, 0, total)
	for _, nodeType := range slices.Sorted(maps.Keys(entries)) {
		for i := range entries[nodeType].rows {
			all = append(all, entries[nodeType].rows[i].Sample)
		}
	}
	return all
}

// take puts a content of a shard in force. Its echo by the watch is no change.
func (s *Store) take(shard int, c content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(s.contents[shard], c) {
		s.contents[shard], s.all = c, nil
		s.revision++
		s.changes.Notify()
	}
}

// Watch returns a channel that receives after every change of All or of Err;
// changes that come faster than they are received are one.
func (s *Store) Watch() <-chan struct{} { return s.changes.Watch() }
