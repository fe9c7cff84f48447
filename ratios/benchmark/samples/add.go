package samples

import (
	"context"
	"fmt"
	"sync"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Add keeps valid samples with node types, and returns what became of each. They
// are stored when it returns, with times to the second. Calls at a time share
// writes, of which each ConfigMap has one at a time. If ctx ends before, the error
// is that of ctx, and they may be stored all the same; to add them once more does
// no harm.
//
// The outcomes count also where there is an error, which is that of the first
// shard that could not be written: its samples are NotStored. The error may be
// one of internal/document. If a sample cannot be stored at all, nothing is.
func (s *Store) Add(ctx context.Context, add []sample.Sample) ([]Outcome, error) {
	return s.each(add, func(h *shard, rows []row) ([]Outcome, error) { return h.add(ctx, rows) })
}

// Preview returns what would become of samples if they were added now, as far as
// is known here, and stores nothing. The error is that they cannot be stored at
// all.
func (s *Store) Preview(add []sample.Sample) ([]Outcome, error) {
	return s.each(add, func(h *shard, rows []row) ([]Outcome, error) {
		_, outcomes := merge(s.current(h.number), rows, s.currentLimits(), s.config.Clock.Now())
		return outcomes, nil
	})
}

// each has what belongs to a shard done, at all of them at a time.
func (s *Store) each(add []sample.Sample, do func(*shard, []row) ([]Outcome, error)) ([]Outcome, error) {
	outcomes := make([]Outcome, len(add))
	var rows [Shards][]row
	// places says where in add the rows are.
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

// row checks that a sample can be stored and read again.
func (s *Store) row(add sample.Sample) (row, error) {
	if add.NodeType == "" {
		return row{}, sample.Fault{Field: "nodeType", Reason: "must be set"}
	}
	if faults := add.Validate(s.config.Clock.Now()); len(faults) > 0 {
		return row{}, faults[0]
	}
	add = normal(add)
	r, err := encode(add)
	if err != nil {
		return row{}, err
	}
	if read, err := decode(r.line); err != nil || read != add {
		return row{}, fmt.Errorf("sample %q is not what can be read again from JSON; its text must be UTF-8", add.ID)
	}
	return r, nil
}

func (s *Store) currentLimits() Limits {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limits
}

// current is what counts of a shard.
func (s *Store) current(shard int) content {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.contents[shard]
}
