package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// turn is one joint repetition: each thread does that many units of work.
type turn struct {
	ctx   context.Context
	units int
	// spare is how many units a thread may do while it waits for others; 0 means any number.
	// Otherwise, if some threads wait for long, their garbage would exceed the heap.
	spare int
	// mean means that all units count for the rate: see rate.
	mean bool
	// absent and unfinished count the threads that have not begun and not ended.
	absent, unfinished atomic.Int32
}

// repeat returns a repetition of a kernel with one thread per work. Rates are in the kernel's
// unit.
func repeat(c *crew, k kernel.Kernel, works []kernel.Work) repetition {
	return func(ctx context.Context) ([]float64, error) {
		// Collect garbage here, so that it is not collected during the repetition.
		runtime.GC()
		t := &turn{ctx: ctx, units: k.Units, mean: k.Memory}
		if k.Garbage > 0 {
			t.spare = (spareUnits - 1) / waits
		}
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

// do returns how many units the calling thread does per second of its CPU time.
func (t *turn) do(work kernel.Work) (float64, error) {
	t.absent.Add(-1)
	// A unit that does not count warms up the caches after other kernels.
	err := t.work(work, 1)
	if err == nil {
		err = t.workWhile(work, &t.absent)
	}
	var used []time.Duration
	for err == nil && len(used) < t.units {
		began := cpuTime()
		err = t.work(work, 1)
		used = append(used, cpuTime()-began)
	}
	t.unfinished.Add(-1)
	if err == nil {
		err = t.workWhile(work, &t.unfinished)
	}
	if err != nil {
		return 0, err
	}
	return t.rate(used), nil
}

// rate returns the units per second of CPU time, from the CPU time that each unit used.
//
// If other threads take turns with this one, it then finds their data in the caches. A unit
// after such a turn takes longer, and even with little load, most repetitions have one. So the
// slowest unit of the fastest quarter determines the rate. Threads that measure the memory
// compete for it all the time, and a unit that is fast slows down that of another thread. So all
// of their units count.
func (t *turn) rate(used []time.Duration) float64 {
	if t.mean {
		var sum time.Duration
		for _, d := range used {
			sum += d
		}
		return float64(len(used)) / sum.Seconds()
	}
	slices.Sort(used)
	return 1 / used[len(used)/quarter].Seconds()
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

// workWhile works while the number of other threads is above 0. A thread whose work counts
// must never have a core or caches to itself.
func (t *turn) workWhile(work kernel.Work, others *atomic.Int32) error {
	for done := 0; others.Load() > 0; done++ {
		if t.spare > 0 && done >= t.spare {
			if err := t.ctx.Err(); err != nil {
				return err
			}
			kernel.Idle()
			continue
		}
		if err := t.work(work, 1); err != nil {
			return err
		}
	}
	return nil
}

// first returns the first error, preferring any other error to an exceeded deadline.
func first(errs []error) error {
	var found error
	for _, err := range errs {
		if err != nil && (found == nil || errors.Is(found, context.DeadlineExceeded)) {
			found = err
		}
	}
	return found
}
