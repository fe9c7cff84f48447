package loop

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestBrake(t *testing.T) {
	t.Run("a write that had begun before does not end the delay", func(t *testing.T) {
		b, now := &brake{}, podtest.Start
		b.pull(&actuate.BusyError{Err: errBusy, Asked: 30 * time.Second}, now)
		b.release(now.Add(time.Second))
		if left := b.left(now.Add(time.Second)); left != 29*time.Second {
			t.Errorf("%v are left, want 29s", left)
		}
	})
	t.Run("a write after the delay lets the next one be short", func(t *testing.T) {
		b, now := &brake{}, podtest.Start
		for range 3 {
			b.pull(errBusy, now)
			now = now.Add(b.left(now))
		}
		b.release(now)
		b.pull(errBusy, now)
		if left := b.left(now); left != firstPause {
			t.Errorf("%v are left, want %v", left, firstPause)
		}
	})
}
