package feed

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// source counts how often it is read, and fails while down is set.
type source struct {
	reads atomic.Int64
	down  atomic.Bool
}

var errDown = errors.New("down")

func (s *source) read(context.Context) (any, error) {
	n := int(s.reads.Add(1))
	if s.down.Load() {
		return n, errDown
	}
	return n, nil
}

// pause is longer after an error.
func pause(_ time.Duration, err error) time.Duration {
	if err != nil {
		return 7 * time.Second
	}
	return 5 * time.Second
}

// in runs a test with feeds in a time of its own.
func in(t *testing.T, test func(*testing.T, *Feeds)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		test(t, New(ctx, pause))
	})
}

func next(t *testing.T, w *Watch) State {
	t.Helper()
	s, err := w.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFeed(t *testing.T) {
	t.Run("reads again after a pause", func(t *testing.T) {
		in(t, func(t *testing.T, f *Feeds) {
			s, begin := &source{}, time.Now()
			w := f.Watch("a", s.read)
			defer w.Close()
			for i, after := range []time.Duration{0, 5 * time.Second, 10 * time.Second} {
				if got := next(t, w); got.Value != i+1 || time.Since(begin) != after || !got.Time.Equal(time.Now()) {
					t.Errorf("%+v after %s", got, time.Since(begin))
				}
			}
		})
	})
	t.Run("is shared by those who look at the same", func(t *testing.T) {
		in(t, func(t *testing.T, f *Feeds) {
			s, other := &source{}, &source{}
			a, b, c := f.Watch("a", s.read), f.Watch("a", s.read), f.Watch("b", other.read)
			for _, w := range []*Watch{a, b, c} {
				next(t, w)
				w.Close()
			}
			if s.reads.Load() != 1 || other.reads.Load() != 1 {
				t.Errorf("%d and %d reads", s.reads.Load(), other.reads.Load())
			}
		})
	})
	t.Run("keeps its value while the source is down, and recovers", func(t *testing.T) {
		in(t, func(t *testing.T, f *Feeds) {
			s := &source{}
			w := f.Watch("a", s.read)
			defer w.Close()
			first := next(t, w)
			s.down.Store(true)
			for i := range 3 {
				began := time.Now()
				if got := next(t, w); got.Value != 1 || !got.Time.Equal(first.Time) || !errors.Is(got.Err, errDown) {
					t.Errorf("while it is down: %+v", got)
				}
				if waited := time.Since(began); i > 0 && waited != pause(0, errDown) {
					t.Errorf("after an error, it reads again after %s", waited)
				}
			}
			s.down.Store(false)
			if got := next(t, w); got.Value != 5 || got.Err != nil || !got.Time.Equal(time.Now()) {
				t.Errorf("afterward: %+v", got)
			}
		})
	})
	t.Run("ends a while after nobody looks at it", func(t *testing.T) {
		in(t, func(t *testing.T, f *Feeds) {
			s := &source{}
			w := f.Watch("a", s.read)
			next(t, w)
			w.Close()
			w.Close()
			time.Sleep(linger - time.Second)
			again := f.Watch("a", s.read)
			if got := next(t, again); got.Value != 2 {
				t.Errorf("a page that is opened again does not begin like a new one: %+v", got)
			}
			time.Sleep(2 * linger)
			again.Close()
			time.Sleep(2 * linger)
			before := s.reads.Load()
			time.Sleep(time.Hour)
			f.mu.Lock()
			defer f.mu.Unlock()
			if n := s.reads.Load(); n != before || len(f.all) != 0 {
				t.Errorf("it reads %d more, and %d feeds are left", n-before, len(f.all))
			}
		})
	})
	t.Run("does not wait for a source after its end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			f := New(ctx, pause)
			w := f.Watch("a", func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
			time.AfterFunc(time.Second, cancel)
			if _, err := w.Next(t.Context()); !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v", err)
			}
		})
	})
}
