package main

import (
	"context"
	"fmt"
	"slices"
)

const (
	// heapPerPod is how many KiB of heap a pod of typical size may take.
	heapPerPod = 2.5
	// perWorkload is how many pods of a workload there are; what they have in common
	// the server may keep once.
	perWorkload = 20

	kib, mib = 1 << 10, 1 << 20
)

// cost is what a number of pods costs: seconds to ready, bytes of memory, and
// seconds of CPU per change of a ratio.
type cost struct{ ready, heap, rss, change float64 }

// tellCost tells what the pods cost, and what they add to what the server takes
// without any.
func (b *bench) tellCost(pods int, c, none *cost) {
	b.report.tell(fmt.Sprintf("start to ready, %d pods", pods), c.ready, "s")
	b.report.tell(fmt.Sprintf("heap, %d pods", pods), c.heap/mib, "MiB")
	line := b.report.tell(fmt.Sprintf("heap per pod, %d pods, %d of a workload", pods, perWorkload), (c.heap-none.heap)/float64(pods)/kib, "KiB")
	if pods >= b.quiet {
		line.atMost(heapPerPod)
	}
	b.report.tell(fmt.Sprintf("RSS, %d pods", pods), c.rss/mib, "MiB")
	b.report.tell(fmt.Sprintf("RSS per pod, %d pods, %d of a workload", pods, perWorkload), (c.rss-none.rss)/float64(pods)/kib, "KiB")
}

// compareGrowth compares what each pod adds from the fewest to the most with what
// it adds from the fewest to a size between: what is there without pods is in
// neither.
func (b *bench) compareGrowth(costs map[int]*cost) {
	sizes := slices.Sorted(slices.Values(b.sizes))
	few, most := sizes[0], sizes[len(sizes)-1]
	middle := b.quiet
	if middle == most {
		middle = sizes[len(sizes)-2]
	}
	slope := func(of func(*cost) float64, to int) float64 {
		return (of(costs[to]) - of(costs[few])) / float64(to-few)
	}
	for _, what := range []struct {
		name, unit string
		of         func(*cost) float64
	}{
		{"time to ready", "µs", func(c *cost) float64 { return 1e6 * c.ready }},
		{"heap", "KiB", func(c *cost) float64 { return c.heap / kib }},
		{"RSS", "KiB", func(c *cost) float64 { return c.rss / kib }},
		{"CPU of a change of a ratio", "µs", func(c *cost) float64 { return 1e6 * c.change }},
	} {
		b.report.compare(fmt.Sprintf("%s that a pod adds up to %d pods, beside up to %d", what.name, most, middle), slope(what.of, most), slope(what.of, middle), what.unit).atMost(1)
	}
}

// lonePods measures the memory of pods each of which is the only one of its
// workload.
func (b *bench) lonePods(ctx context.Context, none *cost, names []string) error {
	if err := b.cluster.fill(ctx, 0, 0, 0); err != nil {
		return err
	}
	if err := b.cluster.fill(ctx, b.quiet, quietNodes, 1, names...); err != nil {
		return err
	}
	b.say("growth: %d pods of as many workloads", b.quiet)
	s, err := b.quietServer(ctx, b.quiet)
	if err != nil {
		return err
	}
	defer b.stop(s)
	heap, err := s.heap(ctx)
	b.report.tell(fmt.Sprintf("heap per pod, %d pods, each the only one of its workload", b.quiet), (heap-none.heap)/float64(b.quiet)/kib, "KiB")
	return err
}
