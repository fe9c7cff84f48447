package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// settledSpread, settledRuns and settledTime are when scores are good: when
	// the fastest repetitions of every kernel differ by no more than that share, are
	// truly a quarter, and were picked from so much time that a few seconds with a
	// neighbour cannot pass for the machine.
	settledSpread = 0.01
	settledRuns   = quarter * leastRuns
	settledTime   = 8 * time.Second
)

// repetition does a kernel once, and returns how much each thread does in a second
// of its CPU time.
type repetition func(context.Context) ([]float64, error)

// rounds does all trials in turn, again and again, until ctx's time is up or the
// scores are good: so each kernel sees as many different moments as there are.
//
// Each has so much of the time that three rounds fit: what is not done then does
// not count in this round.
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

// settled tells that more repetitions would not change scores.
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
