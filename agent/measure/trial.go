package measure

import (
	"context"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// trial is a kernel, the ways to run it, and the results of each way.
type trial struct {
	kernel kernel.Kernel
	// kinds are the kinds of threads: see series.each.
	kinds  [][]int
	ways   []repetition
	series []series
}

// newTrial returns a trial that runs a kernel with all threads at the same time, and
// with one thread alone. Each thread creates its own data; bytes is the total size.
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

// inTurn returns work whose units take turns among works. A thread that runs alone must
// use the data of all threads: its own part might fit into the shared caches, which
// would make it too fast.
func inTurn(works []kernel.Work) kernel.Work {
	next := 0
	return func() error {
		work := works[next]
		next = (next + 1) % len(works)
		return work()
	}
}

// once runs the kernel once in each way.
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

// figure returns the result of one way to run the kernel. The first way uses all threads.
func (t *trial) figure(way int) figure {
	switch {
	case way > 0:
		return t.series[way].each([][]int{{0}})
	case t.kernel.Memory:
		return t.series[way].together()
	}
	return t.series[way].each(t.kinds)
}

// score returns the score of the trial, if it has enough repetitions.
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
