package localcluster

import (
	"testing"
	"time"
)

// At first, Eventually tries again soon: most of what is waited for takes a moment. What
// takes longer is to have the processor.
const soonest, latest = 10 * time.Millisecond, 100 * time.Millisecond

// Patience is how long a test may wait for anything; far more than it takes.
const Patience = 3 * time.Minute

// Eventually tries until try returns nil, for what other programs do in their
// own time; the test fails if that takes longer than Patience.
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
			tb.Fatalf("waiting for %s: %v", what, err)
		}
	}
}
