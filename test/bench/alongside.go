package main

import (
	"context"
	"fmt"
)

// alongside has the speed of resizes while quiet pods exist, which need no resize. It is
// measured for the server and for the bare client: in pods per second if all others need a
// resize at the same time, and in seconds from running to resized.
type alongside struct {
	rate      float64
	ours, raw []float64
}

// alongside measures one turn of each with that many quiet pods, which the server has
// planned before.
func (b *bench) alongside(ctx context.Context, quietPods int) (*alongside, error) {
	b.say("growth: resizing with %d quiet pods", quietPods)
	before := quietRatios(unchangedPerf)
	w, err := b.work(ctx, &turn{before: before, ratios: before + fastOnly})
	if err != nil {
		return nil, err
	}
	took, err := b.latencies(ctx, before+fastOnly)
	if err != nil {
		return nil, err
	}
	raw, err := b.bareLatencies(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.cluster.empty(ctx, filled); err != nil {
		return nil, err
	}
	if err := b.cluster.configure(ctx, before); err != nil {
		return nil, err
	}
	return &alongside{b.rate(w), took, raw}, nil
}

// tellAlongside compares the speed with and without quiet pods.
func (b *bench) tellAlongside(ctx context.Context, quietPods int, alone *alongside) error {
	among, err := b.alongside(ctx, quietPods)
	if err != nil {
		return err
	}
	b.report.compare(fmt.Sprintf("aligned pods, %d quiet pods vs. none", quietPods), among.rate, alone.rate, "pods/s")
	for _, q := range quantiles {
		what := fmt.Sprintf("running to resized, %s, %d quiet pods", q.name, quietPods)
		b.report.compare(what+" vs. none", quantile(among.ours, q.share), quantile(alone.ours, q.share), "s")
		b.report.compare(what+", server vs. bare client", quantile(among.ours, q.share), quantile(among.raw, q.share), "s")
	}
	return nil
}
