package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// settledSpread, settledRuns and settledTime define when scores are good. The spread of
	// every kernel's fastest repetitions is at most settledSpread. With settledRuns, they are
	// a true quarter of all repetitions. With settledTime, they come from a period so long
	// that a few seconds with a neighbor do not look like the machine's speed.
	settledSpread = 0.01
	settledRuns   = quarter * leastRuns
	settledTime   = 8 * time.Second
)

// repetition runs a kernel once, and returns each thread's throughput per second of its CPU
// time.
type repetition func(context.Context) ([]float64, error)

// rounds runs all trials in turn until ctx is done or the scores are good, so that each kernel
// runs at as many different times as possible.
//
// Each trial gets a share of the time so that three rounds fit. A trial that does not complete
// in its share does not count in this round.
func rounds(ctx context.Context, trials []*trial) error {
	began := time.Now()
	share := time.Duration(math.MaxInt64)
	if end, limited := ctx.Deadline(); limited {
		share = end.Sub(began) / time.Duration(leastRuns*len(trials))
	}
	for ctx.Err() == nil {
		for _, t := range trials {
			err := t.once(ctx, share)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("measure %s: %w", t.kernel.Name, err)
			}
		}
		if time.Since(began) >= settledTime && settled(trials) {
			break
		}
	}
	return nil
}

// settled reports whether more repetitions would not change scores.
func settled(trials []*trial) bool {
	for _, t := range trials {
		for way, s := range t.series {
			if s.length() < settledRuns || t.figure(way).spread() > settledSpread {
				return false
			}
		}
	}
	return true
}
