package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

const (
	// heapPerPod is how many KiB of heap a pod of typical size may take.
	heapPerPod = 2.5
	// perWorkload is how many pods of a workload there are; what they have in common
	// the server may keep once.
	perWorkload = 20
	// noWorse is how much more each of many pods may cost than each of fewer before
	// that is worse than linear: what is measured twice is not the same twice.
	noWorse = 1.15

	kib, mib = 1 << 10, 1 << 20
)

// cost is what a number of pods costs: seconds to ready, the share of a core that the
// idle server takes, bytes of memory, requests until ready, and seconds of CPU per
// change of a ratio.
type cost struct{ ready, idle, heap, rss, requests, change float64 }

// tellCost tells what the pods cost, and what they add to what the server takes
// without any.
func (b *bench) tellCost(pods int, c, none *cost) {
	b.report.tell(fmt.Sprintf("start to ready, %d pods", pods), c.ready, "s")
	b.report.tell(fmt.Sprintf("heap, %d pods", pods), c.heap/mib, "MiB")
	line := b.report.tell(fmt.Sprintf("heap per pod, %d pods, %d of a workload, %d shapes", pods, perWorkload, quietShapes), b.added(c.heap, none.heap, pods), "KiB")
	if pods >= b.quiet {
		line.atMost(heapPerPod)
	}
	b.report.tell(fmt.Sprintf("RSS, %d pods", pods), c.rss/mib, "MiB")
	b.report.tell(fmt.Sprintf("RSS per pod, %d pods, %d of a workload, %d shapes", pods, perWorkload, quietShapes), b.added(c.rss, none.rss, pods), "KiB")
}

// added is how many KiB each pod adds to what there is without any. The templates are
// pods as well, and were not there without any.
func (b *bench) added(with, without float64, pods int) float64 {
	return (with - without) / float64(pods+len(b.quietNames)) / kib
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
		b.report.growth(fmt.Sprintf("%s that a pod adds up to %d pods, beside up to %d", what.name, most, middle), slope(what.of, most), slope(what.of, middle), what.unit)
	}
	// Of these, what pods add is less than what differs from one look to the next, so
	// all of it is compared.
	for _, what := range []struct {
		name, unit string
		of         func(*cost) float64
	}{
		{"idle CPU", "µs/s", func(c *cost) float64 { return 1e6 * c.idle }},
		{"API requests until ready", "requests", func(c *cost) float64 { return c.requests }},
	} {
		perPod := func(pods int) float64 { return what.of(costs[pods]) / float64(pods) }
		b.report.growth(fmt.Sprintf("%s per pod, %d pods, beside %d", what.name, most, middle), perPod(most), perPod(middle), what.unit)
	}
}

// growth adds what each of many pods costs beside what each of fewer does. Where that
// is nothing, or less, there is nothing to compare with.
func (r *report) growth(name string, many, fewer float64, unit string) {
	if fewer <= 0 {
		r.tell(name+", where fewer added nothing", many, unit)
		return
	}
	r.compare(fmt.Sprintf("%s, linear within %.0f %%", name, 100*(noWorse-1)), many, fewer, unit).atMost(noWorse)
}

// lonePods measures the memory of pods each of which is the only one of its
// workload.
func (b *bench) lonePods(ctx context.Context, none *cost) error {
	if err := b.fillQuiet(ctx, b.quiet, 1); err != nil {
		return err
	}
	b.say("growth: %d pods of as many workloads", b.quiet)
	s, err := b.quietServer(ctx, b.quiet)
	if err != nil {
		return err
	}
	defer b.stop(s)
	heap, err := s.heap(ctx)
	b.report.tell(fmt.Sprintf("heap per pod, %d pods, each the only one of its workload, %d shapes", b.quiet, quietShapes), b.added(heap, none.heap, b.quiet), "KiB").atMost(heapPerPod)
	return errors.Join(err, b.cluster.empty(ctx, quiet))
}
