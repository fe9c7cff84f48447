package samples

import (
	"context"
	"fmt"
	"sync"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Add stores valid samples with node types, and returns the outcome of each. They are stored
// when Add returns, with times to the second. Concurrent calls share writes: each ConfigMap
// has one write at a time. If ctx ends first, Add returns the error of ctx, and the samples
// may still be stored. It is safe to add them again.
//
// The outcomes are valid even if there is an error. It is the error of the first shard that
// could not be written, whose samples are NotStored; it may be an error of internal/document.
// If any sample is invalid, none is stored.
func (s *Store) Add(ctx context.Context, add []sample.Sample) ([]Outcome, error) {
	return s.each(add, func(h *shard, rows []row) ([]Outcome, error) { return h.add(ctx, rows) })
}

// Preview returns the outcomes that Add would return now, as far as this replica knows. It
// stores nothing. The error means that the samples cannot be stored at all.
func (s *Store) Preview(add []sample.Sample) ([]Outcome, error) {
	return s.each(add, func(h *shard, rows []row) ([]Outcome, error) {
		_, outcomes, err := merge(s.current(h.number), rows, s.currentLimits(), s.config.Clock.Now())
		return outcomes, err
	})
}

// each calls do for every shard with the rows that belong to it, concurrently.
func (s *Store) each(add []sample.Sample, do func(*shard, []row) ([]Outcome, error)) ([]Outcome, error) {
	outcomes := make([]Outcome, len(add))
	var rows [Shards][]row
	// places are the indexes of the rows in add.
	var places [Shards][]int
	for i := range add {
		r, err := s.row(add[i])
		if err != nil {
			return nil, fmt.Errorf("add sample %d: %w", i, err)
		}
		outcomes[i] = NotStored
		shard := shardOf(r.NodeType)
		rows[shard], places[shard] = append(rows[shard], r), append(places[shard], i)
	}
	var errs [Shards]error
	var working sync.WaitGroup
	for i, shard := range s.shards {
		if len(rows[i]) == 0 {
			continue
		}
		working.Go(func() {
			got, err := do(shard, rows[i])
			errs[i] = err
			for j, outcome := range got {
				outcomes[places[i][j]] = outcome
			}
		})
	}
	working.Wait()
	return outcomes, summary(errs[:])
}

// row checks that a sample can be stored and read back.
func (s *Store) row(add sample.Sample) (row, error) {
	if add.NodeType == "" {
		return row{}, sample.Fault{Field: "nodeType", Reason: "must be set"}
	}
	if faults := add.Validate(s.config.Clock.Now()); len(faults) > 0 {
		return row{}, faults[0]
	}
	return row{normal(add)}, nil
}

func (s *Store) currentLimits() Limits {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limits
}

// current returns the content of a shard that is in effect.
func (s *Store) current(shard int) content {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.contents[shard]
}
