package measured

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestWindows(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Windows)
		want   time.Duration
	}{
		{"the window ends", func(*Windows) {}, time.Hour},
		{"a judgment failed", func(w *Windows) { w.Judge = func(context.Context) error { return errors.New("no") } }, RetryPeriod},
		{"another replica leads", func(w *Windows) { w.Leads = func() bool { return false } }, RetryPeriod},
		{"windows are not known", func(w *Windows) { w.Next = func(time.Time) time.Time { return time.Time{} } }, RetryPeriod},
		{"a judgment failed just before the window ends", func(w *Windows) {
			w.Judge = func(context.Context) error { return errors.New("no") }
			w.Next = func(now time.Time) time.Time { return now.Add(time.Second) }
		}, time.Second},
	} {
		t.Run("judges again when "+tc.name, func(t *testing.T) { judgesAgain(t, tc.change, tc.want) })
	}
	t.Run("judges again when windows change", judgesAgainWhenWindowsChange)
}

// running is a loop whose judgments are counted.
type running struct {
	judged atomic.Int32
	clock  *clocktesting.FakeClock
}

func run(t *testing.T, change func(*Windows)) *running {
	t.Helper()
	r := &running{clock: clocktesting.NewFakeClock(time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC))}
	w := &Windows{
		Source: "a", Judge: func(context.Context) error { return nil }, Leads: func() bool { return true },
		Next: func(now time.Time) time.Time { return now.Add(time.Hour) }, Clock: r.clock,
	}
	change(w)
	judge := w.Judge
	w.Judge = func(ctx context.Context) error {
		r.judged.Add(1)
		return judge(ctx)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
	r.await(t, 1)
	return r
}

// await waits until there were n judgments, and the loop waits for the next one.
func (r *running) await(t *testing.T, n int32) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); r.judged.Load() != n || !r.clock.HasWaiters(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there were %d judgments, want %d", r.judged.Load(), n)
		}
	}
}

func judgesAgain(t *testing.T, change func(*Windows), after time.Duration) {
	r := run(t, change)
	r.clock.Step(after - time.Millisecond)
	if !r.clock.HasWaiters() {
		t.Fatalf("it judges before %s", after)
	}
	r.clock.Step(time.Millisecond)
	r.await(t, 2)
}

func judgesAgainWhenWindowsChange(t *testing.T) {
	changed := make(chan struct{}, 1)
	r := run(t, func(w *Windows) { w.Changed = changed })
	changed <- struct{}{}
	r.await(t, 2)
}
