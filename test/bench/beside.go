package main

import (
	"context"
	"fmt"
)

// beside is how fast pods are resized while there are others that need nothing: pods
// per second where all need it at once, and the quantiles of the seconds from running
// to resized.
type beside struct{ rate, p50, p99 float64 }

// beside measures one turn of each beside so many quiet pods, which are planned before.
func (b *bench) beside(ctx context.Context, quietPods int) (*beside, error) {
	b.say("growth: resizing beside %d quiet pods", quietPods)
	before := quietRatios(unchangedPerf)
	w, err := b.work(ctx, &turn{before: before, ratios: before + fastOnly})
	if err != nil {
		return nil, err
	}
	took, err := b.latencies(ctx, before+fastOnly)
	if err != nil {
		return nil, err
	}
	if err := b.cluster.empty(ctx, filled); err != nil {
		return nil, err
	}
	if err := b.cluster.configure(ctx, before); err != nil {
		return nil, err
	}
	return &beside{b.rate(w), quantile(took, 0.5), quantile(took, 0.99)}, nil
}

// tellBeside compares that with what it is without quiet pods.
func (b *bench) tellBeside(ctx context.Context, quietPods int, alone *beside) error {
	among, err := b.beside(ctx, quietPods)
	if err != nil {
		return err
	}
	name := func(what string) string { return fmt.Sprintf("%s, beside %d quiet pods and none", what, quietPods) }
	b.report.compare(name("aligned pods"), among.rate, alone.rate, "pods/s")
	b.report.compare(name("running to resized, p50"), among.p50, alone.p50, "s")
	b.report.compare(name("running to resized, p99"), among.p99, alone.p99, "s")
	return nil
}
