package samples

import (
	"context"
	"fmt"

	"github.com/workload-resizer/workload-resizer/internal/document"
)

// batch has the rows that concurrent calls add to a shard with one write.
type batch struct {
	rows []row
	// done is closed when outcomes, one per row, and err are set.
	done     chan struct{}
	outcomes []Outcome
	err      error
}

// add stores rows, together with the rows of other calls that arrive while a write is
// in progress. It waits until they are written or ctx ends.
func (h *shard) add(ctx context.Context, rows []row) ([]Outcome, error) {
	if h.store.config.ReadOnly {
		return h.keep(rows)
	}
	b, first := h.enqueue(rows)
	select {
	case <-b.done:
		if b.err != nil {
			return nil, b.err
		}
		return b.outcomes[first : first+len(rows)], nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the write of %s: %w", h.document.Source, ctx.Err())
	}
}

// enqueue adds rows to the next batch. It returns the batch and the index of the first row in
// it.
func (h *shard) enqueue(rows []row) (b *batch, first int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.next == nil {
		h.next = &batch{done: make(chan struct{})}
	}
	b, first = h.next, len(h.next.rows)
	b.rows = append(b.rows, rows...)
	if !h.writing {
		h.writing = true
		go h.writeAll()
	}
	return b, first
}

// writeAll writes batches until there are none left. It continues if a caller gives up,
// because a batch has samples of several callers. The document limits the time of a write.
func (h *shard) writeAll() {
	for {
		h.store.writing <- struct{}{}
		b := h.take()
		if b == nil {
			<-h.store.writing
			return
		}
		b.err = h.document.Update(context.Background(), document.Turn{}, func(c content, _ map[string]string) (data map[string]string, err error) {
			data, b.outcomes, err = merge(c, b.rows, h.store.currentLimits(), h.store.config.Clock.Now())
			if err != nil || data == nil {
				return nil, err
			}
			// Never write data that cannot be read back.
			_, err = h.parser.parse(data)
			return data, err
		})
		<-h.store.writing
		close(b.done)
	}
}

// take returns the next batch; nil if there is none and writeAll must return.
func (h *shard) take() *batch {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.next
	h.next, h.writing = nil, b != nil
	return b
}
