package measure

import (
	"context"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// trial is a kernel, in what ways it is done, and what came of each.
type trial struct {
	kernel kernel.Kernel
	// kinds are those of the threads: see series.each.
	kinds  [][]int
	ways   []repetition
	series []series
}

// newTrial has each thread make what it works on, of so many bytes together: with
// all threads at once, and with one alone.
func newTrial(c *crew, k kernel.Kernel, kinds [][]int, bytes int) *trial {
	works := make([]kernel.Work, c.size())
	c.together(len(works), func(thread int) { works[thread] = k.New(bytes / len(works)) })
	t := &trial{kernel: k, kinds: kinds, ways: []repetition{repeat(c, k, works)}}
	if len(works) > 1 {
		alone := works[:1]
		if k.Memory {
			alone = []kernel.Work{inTurn(works)}
		}
		t.ways = append(t.ways, repeat(c, k, alone))
	}
	t.series = make([]series, len(t.ways))
	return t
}

// inTurn does a unit of each work in turn. Alone, a thread is to wander through all
// of the memory: its own part may well fit into the caches that all share.
func inTurn(works []kernel.Work) kernel.Work {
	next := 0
	return func() error {
		work := works[next]
		next = (next + 1) % len(works)
		return work()
	}
}

// once does the kernel in each way once.
func (t *trial) once(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for i, repeat := range t.ways {
		rates, err := repeat(ctx)
		if err != nil {
			return err
		}
		t.series[i].add(rates)
	}
	return nil
}

// figure is what a way of doing the kernel comes to; the first is with all threads.
func (t *trial) figure(way int) figure {
	switch {
	case way > 0:
		return t.series[way].each([][]int{{0}})
	case t.kernel.Memory:
		return t.series[way].together()
	}
	return t.series[way].each(t.kinds)
}

// score returns what the trial came to, if it was repeated often enough.
func (t *trial) score() (Score, bool) {
	all, alone := t.figure(0), t.figure(len(t.series)-1)
	if min(all.runs, alone.runs) < leastRuns {
		return Score{}, false
	}
	return Score{
		Kernel: t.kernel, All: all.score, Single: alone.score, Spread: max(all.spread(), alone.spread()), Runs: all.runs,
		Disturbed: float64(all.disturbed+alone.disturbed) / float64(all.repetitions+alone.repetitions),
	}, true
}
