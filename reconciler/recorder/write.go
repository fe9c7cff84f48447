package recorder

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
)

// store stores the batches and, if asked to, how far this replica has recorded. ends means that it stops recording.
func (r *Recorder) store(ctx context.Context, marks, ends bool) error {
	began := r.config.Clock.Now()
	for _, class := range []journal.Class{journal.Resizes, journal.Acts} {
		if err := r.storeBatch(ctx, class); err != nil {
			return err
		}
	}
	if !marks {
		return nil
	}
	if !ends {
		if since, waits := r.waits(); waits && since.Before(began) {
			began = since // Everything before that is stored.
		}
	}
	if err := r.storeMark(ctx, journal.Mark{Until: began, Writer: r.config.Replica, Ended: ends}); err != nil {
		return err
	}
	r.markAt = r.config.Clock.Now().Add(resizesAfter)
	return nil
}

// waits returns when the first entry was recorded that is not stored; false if there is none.
func (r *Recorder) waits() (since time.Time, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, class := range []journal.Class{journal.Resizes, journal.Acts} {
		if at, ok := r.pending.Since(class); ok && (!waits || at.Before(since)) {
			since, waits = at, true
		}
	}
	return since, waits
}

// storeBatch stores the batch of a class, if there is one.
func (r *Recorder) storeBatch(ctx context.Context, class journal.Class) error {
	b := r.writing[class]
	if b == nil {
		return nil
	}
	book := r.Book()
	err := journal.ErrFull
	if number, ok := book.Open(class); ok && r.usable(number) {
		err = r.put(ctx, number, book[number].Number, nil, b)
	}
	if errors.Is(err, journal.ErrFull) {
		return r.storeInNext(ctx, book, class, b)
	}
	if err == nil {
		delete(r.writing, class)
	}
	return err
}

// storeInNext stores a batch in another segment. If not even that has room for all, the rest remains.
func (r *Recorder) storeInNext(ctx context.Context, book journal.Book, class journal.Class, b *batch) error {
	now := r.config.Clock.Now()
	number, fresh, ok := book.Next(class, r.usable, now)
	if !ok {
		return errUnusable
	}
	// The gap is stored at the latest with what replaces the entries, so that no crash leaves their loss unmarked.
	if gap, dropped := book[number].Dropped(now); dropped && journal.ActsOf(book[:])[gap.ID()] == nil {
		if class == journal.Resizes {
			if err := r.storeGap(ctx, gap); err != nil {
				return err
			}
			if book = r.Book(); journal.ActsOf(book[:])[gap.ID()] == nil {
				return errMoved
			}
			return r.storeBatch(ctx, class)
		}
		b.entries = append([]journal.Entry{gap}, b.entries...)
	}
	replaced := int64(0)
	if book[number] != nil {
		replaced = book[number].Number
	}
	part := *b
	for {
		err := r.put(ctx, number, replaced, fresh, &part)
		if err == nil {
			break
		}
		if !errors.Is(err, journal.ErrFull) || len(part.entries) == 1 {
			return err
		}
		part.entries = part.entries[:len(part.entries)/2]
		part.id = b.id + " " + strconv.Itoa(len(part.entries))
	}
	if rest := b.entries[len(part.entries):]; len(rest) > 0 {
		r.batches++
		r.writing[class] = &batch{r.batchID(), rest}
		return nil
	}
	delete(r.writing, class)
	return nil
}

// storeGap stores a gap with the acts that are being stored. Acts that are stored already stay as they are.
func (r *Recorder) storeGap(ctx context.Context, gap journal.Entry) error {
	b := &batch{entries: []journal.Entry{gap}}
	if acts := r.writing[journal.Acts]; acts != nil {
		b.entries = append(b.entries, acts.entries...)
	}
	r.batches++
	b.id = r.batchID()
	r.writing[journal.Acts] = b
	return r.storeBatch(ctx, journal.Acts)
}

// put adds a batch to the segment with a number in a slot. With fresh, that replaces the segment. A batch that was added
// already is not added again.
func (r *Recorder) put(ctx context.Context, slot int, number int64, fresh *journal.Segment, b *batch) error {
	now := r.config.Clock.Now()
	return r.slots[slot].document.Update(ctx, document.Turn{}, func(stored content, data map[string]string) (map[string]string, error) {
		into := stored.segment
		if into == nil && number != 0 || into != nil && into.Number != number {
			return nil, errMoved
		}
		if fresh != nil {
			into = fresh
		}
		if into.Batch == b.id {
			return nil, nil
		}
		text, err := into.With(b.id, b.entries, now).Text()
		return with(data, segmentKey, text), err
	})
}

// storeMark stores how far this replica has recorded. If it ends, and another one records already, it stores nothing.
func (r *Recorder) storeMark(ctx context.Context, m journal.Mark) error {
	return r.slots[0].document.Update(ctx, document.Turn{}, func(stored content, data map[string]string) (map[string]string, error) {
		if m.Ended && stored.mark.Writer != m.Writer && stored.mark.Until.After(m.Until) {
			return nil, nil
		}
		text, err := markText(m)
		return with(data, markKey, text), err
	})
}

func with(data map[string]string, key, text string) map[string]string {
	next := map[string]string{}
	maps.Copy(next, data)
	next[key] = text
	return next
}

// usable reports whether a slot can be written, as far as is known.
func (r *Recorder) usable(slot int) bool {
	d := r.slots[slot].document
	return d.Err() == nil && d.Missing() == nil
}

var errUnusable = errors.New("none of its ConfigMaps can be written")
