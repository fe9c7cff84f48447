package signal_test

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/signal"
)

// The values before a resize are kept by spans of 5 minutes, of which one begins at second 1200.
func TestUsual(t *testing.T) {
	t.Run("a late sample of the previous span counts", func(t *testing.T) {
		s := signal.New()
		take(s, resized("a", 0), minute(1210, throttled(0.1)))
		take(s, resized("a", 0), minute(1190, throttled(0.5)))
		check(t, s, resized("a", 1211), 0.5, -1)
	})
	t.Run("a sample of the next span does not count", func(t *testing.T) {
		s := signal.New()
		take(s, resized("a", 0), minute(1190, throttled(0.5)))
		take(s, resized("a", 0), minute(1210, throttled(0.9)))
		check(t, s, resized("a", 1199), 0.5, -1)
	})
	t.Run("a short sample that ends in the second of the resize is not of the time before", func(t *testing.T) {
		s, of := signal.New(), resized("a", 1200)
		sample := &signal.Sample{Length: 5 * time.Second, Strain: guard.Strain{Memory: guard.Of(4096)}}
		sample.At = of.ResizedAt().Add(900 * time.Millisecond)
		take(s, of, sample)
		if got := s.Of(of, "app"); got.Before.Memory.Known || got.Since.Memory.Known {
			t.Errorf("%+v", got)
		}
	})
}
