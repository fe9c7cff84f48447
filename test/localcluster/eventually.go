package localcluster

import (
	"testing"
	"time"
)

// Eventually retries quickly at first, since most conditions are met within moments. Later, it
// retries less often, to leave the CPU to slower operations.
const soonest, latest = 10 * time.Millisecond, 100 * time.Millisecond

// Patience is how long a test may wait for a condition, far longer than usually necessary.
const Patience = 5 * time.Minute

// Eventually calls try until it returns nil, to wait for other programs. The test fails if that
// takes longer than Patience.
func Eventually(tb testing.TB, what string, try func() error) {
	tb.Helper()
	deadline := time.After(Patience)
	for pause := soonest; ; pause = min(pause*3/2, latest) {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-deadline:
			tb.Fatalf("timed out waiting for %s: %v", what, err)
		}
	}
}
