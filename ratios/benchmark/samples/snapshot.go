package samples

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// All returns all samples by node type, and their revision, which increases with every change.
// The caller must not modify them. The result is cached until the next change.
func (s *Store) All() (all []sample.Sample, revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = flat(s.contents[:])
	}
	return s.all, s.revision
}

// flat returns the samples of contents by node type; it never returns nil.
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

// take puts the content of a shard into effect. If the watch reports the same content again,
// this is not a change.
func (s *Store) take(shard int, c content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(s.contents[shard], c) {
		s.contents[shard], s.all = c, nil
		s.revision++
		s.changes.Notify()
	}
}

// Watch returns a channel that receives a value after every change to All or to Err. Changes
// that arrive faster than they are received are combined.
func (s *Store) Watch() <-chan struct{} { return s.changes.Watch() }
