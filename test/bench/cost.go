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
	// perWorkload is the number of pods per workload. The server can keep the parts
	// that they have in common only once.
	perWorkload = 20
	// noWorse is the factor by which the cost per pod may grow with the number of pods
	// and still count as linear: no two measurements are equal.
	noWorse = 1.15

	kib, mib = 1 << 10, 1 << 20
)

// cost is the cost of a number of pods: seconds until ready, the idle server's share of a
// core, bytes of memory, requests until ready, and seconds of CPU per change to a ratio.
type cost struct{ ready, idle, heap, rss, requests, change float64 }

// tellCost reports the cost of the pods, and what each adds to a server without pods.
func (b *bench) tellCost(pods int, c, none *cost) {
	b.report.tell(fmt.Sprintf("start to ready, %d pods", pods), c.ready, "s")
	b.report.tell(fmt.Sprintf("heap, %d pods", pods), c.heap/mib, "MiB")
	line := b.report.tell(fmt.Sprintf("heap per pod, %d pods, %d per workload, %d shapes", pods, perWorkload, quietShapes), b.added(c.heap, none.heap, pods), "KiB")
	if pods >= b.quiet {
		line.atMost(heapPerPod)
	}
	b.report.tell(fmt.Sprintf("RSS, %d pods", pods), c.rss/mib, "MiB")
	b.report.tell(fmt.Sprintf("RSS per pod, %d pods, %d per workload, %d shapes", pods, perWorkload, quietShapes), b.added(c.rss, none.rss, pods), "KiB")
}

// added returns the KiB that each pod adds to a server without pods. The templates count
// as pods, too, because a server without pods does not have them.
func (b *bench) added(with, without float64, pods int) float64 {
	return (with - without) / float64(pods+len(b.quietNames)) / kib
}

// compareGrowth compares what each pod adds from the smallest to the largest number of
// pods with what it adds from the smallest to a number in between. Neither includes the
// cost of a server without pods.
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
		{"CPU of a ratio change", "µs", func(c *cost) float64 { return 1e6 * c.change }},
	} {
		b.report.growth(fmt.Sprintf("%s added per pod, up to %d pods vs. up to %d", what.name, most, middle), slope(what.of, most), slope(what.of, middle), what.unit)
	}
	// Here, pods add less than two measurements differ, so the totals are compared.
	for _, what := range []struct {
		name, unit string
		of         func(*cost) float64
	}{
		{"idle CPU", "µs/s", func(c *cost) float64 { return 1e6 * c.idle }},
		{"API requests until ready", "requests", func(c *cost) float64 { return c.requests }},
	} {
		perPod := func(pods int) float64 { return what.of(costs[pods]) / float64(pods) }
		b.report.growth(fmt.Sprintf("%s per pod, %d pods vs. %d", what.name, most, middle), perPod(most), perPod(middle), what.unit)
	}
}

// growth reports the cost per pod of many pods, with the cost per pod of fewer pods as
// the reference. If that is zero or less, there is no reference.
func (r *report) growth(name string, many, fewer float64, unit string) {
	if fewer <= 0 {
		r.tell(name+", no reference because fewer pods added nothing", many, unit)
		return
	}
	r.compare(fmt.Sprintf("%s, linear within %.0f%%", name, 100*(noWorse-1)), many, fewer, unit).atMost(noWorse)
}

// lonePods measures the memory of pods that are the only ones of their workloads.
func (b *bench) lonePods(ctx context.Context, none *cost) error {
	if err := b.fillQuiet(ctx, b.quiet, 1); err != nil {
		return err
	}
	b.say("growth: %d pods, one per workload", b.quiet)
	s, err := b.quietServer(ctx, b.quiet)
	if err != nil {
		return err
	}
	defer b.stop(s)
	heap, err := s.heap(ctx)
	b.report.tell(fmt.Sprintf("heap per pod, %d pods, one per workload, %d shapes", b.quiet, quietShapes), b.added(heap, none.heap, b.quiet), "KiB").atMost(heapPerPod)
	return errors.Join(err, b.cluster.empty(ctx, quiet))
}
