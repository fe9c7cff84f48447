package localcluster

import (
	"testing"
	"time"
)

// Patience is how long a test may wait for anything; far more than it takes.
const Patience = 3 * time.Minute

// Eventually tries until try returns nil, for what other programs do in their
// own time; the test fails if that takes longer than Patience.
func Eventually(tb testing.TB, what string, try func() error) {
	tb.Helper()
	deadline := time.After(Patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("waiting for %s: %v", what, err)
		}
	}
}
