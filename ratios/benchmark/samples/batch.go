package samples

import (
	"context"
	"fmt"
)

// batch is what calls at a time add to a shard by one write.
type batch struct {
	rows []row
	// done is closed when outcomes, one per row, and err say what became of it.
	done     chan struct{}
	outcomes []Outcome
	err      error
}

// add stores rows, together with those of other calls that come while a write is
// under way, and waits for it as long as ctx lets it.
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
		return nil, fmt.Errorf("wait until %s is written: %w", h.document.Source, ctx.Err())
	}
}

// enqueue puts rows into the next batch, and returns it and where they are in it.
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

// writeAll writes batches until there are none. It is not ended by a caller that
// gives up: the batch has samples of others. The document bounds its time.
func (h *shard) writeAll() {
	for {
		h.store.writing <- struct{}{}
		b := h.take()
		if b == nil {
			<-h.store.writing
			return
		}
		b.err = h.document.Update(context.Background(), false, func(c content, _ map[string]string) (data map[string]string, err error) {
			data, b.outcomes = merge(c, b.rows, h.store.currentLimits(), h.store.config.Clock.Now())
			if data == nil {
				return nil, nil
			}
			// What could not be read again must never be written.
			_, err = h.parser.parse(data)
			return data, err
		})
		<-h.store.writing
		close(b.done)
	}
}

// take returns the next batch, nil if there is none and whoever writes may end.
func (h *shard) take() *batch {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.next
	h.next, h.writing = nil, b != nil
	return b
}
