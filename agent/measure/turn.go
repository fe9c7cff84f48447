package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// turn is what threads do together once: so many units of work each.
type turn struct {
	ctx   context.Context
	units int
	// absent and unfinished are how many threads have not begun, and not ended.
	absent, unfinished atomic.Int32
}

// repeat returns the repetition of a kernel by as many threads as there are works.
// Rates are in the kernel's unit.
func repeat(c *crew, k kernel.Kernel, works []kernel.Work) repetition {
	return func(ctx context.Context) ([]float64, error) {
		// Garbage is collected between repetitions and not in them.
		runtime.GC()
		t := &turn{ctx: ctx, units: k.Units}
		t.absent.Store(int32(len(works)))
		t.unfinished.Store(int32(len(works)))
		rates, errs := make([]float64, len(works)), make([]error, len(works))
		c.together(len(works), func(thread int) {
			rates[thread], errs[thread] = t.do(works[thread])
			rates[thread] *= k.Amount
		})
		return rates, first(errs)
	}
}

// do returns how many units a thread does in a second of its CPU time.
func (t *turn) do(work kernel.Work) (float64, error) {
	t.absent.Add(-1)
	// A unit that does not count fills the caches after other kernels.
	err := t.work(work, 1)
	if err == nil {
		err = t.workWhile(work, &t.absent)
	}
	began := cpuTime()
	if err == nil {
		err = t.work(work, t.units)
	}
	used := cpuTime() - began
	t.unfinished.Add(-1)
	if err == nil {
		err = t.workWhile(work, &t.unfinished)
	}
	return float64(t.units) / used.Seconds(), err
}

func (t *turn) work(work kernel.Work, units int) error {
	for range units {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		if err := work(); err != nil {
			return fmt.Errorf("do a unit of work: %w", err)
		}
	}
	return nil
}

// workWhile goes on while there are such threads: nobody is to have a core or
// caches to itself while it counts.
func (t *turn) workWhile(work kernel.Work, others *atomic.Int32) error {
	for others.Load() > 0 {
		if err := t.work(work, 1); err != nil {
			return err
		}
	}
	return nil
}

// first returns an error, rather than that the time was up another.
func first(errs []error) error {
	var found error
	for _, err := range errs {
		if err != nil && (found == nil || errors.Is(found, context.DeadlineExceeded)) {
			found = err
		}
	}
	return found
}
