package main

import (
	"context"
	"fmt"
)

// unlimited lets the server write as fast as it can.
var unlimited = []string{"--kube-api-qps=100000", "--kube-api-burst=100000"}

// variant is one way to resize pods.
type variant struct {
	name   string
	target float64
	// turn describes how the server resizes them. It is nil for the bare client, which
	// has bareArgs.
	turn     *turn
	bareArgs []string
	works    []work
}

func (v *variant) run(ctx context.Context, b *bench) (work, error) {
	if v.turn == nil {
		return b.bareWork(ctx, v.bareArgs...)
	}
	return b.work(ctx, v.turn)
}

// throughput measures how many pods per second are resized if all need it at the same time. It
// also reports the CPU that this takes, which is the limiting factor and does not depend on
// the machine's other load.
func throughput(ctx context.Context, b *bench) error {
	variants := []*variant{
		{name: "bare"},
		{name: "events on", target: 0.85, turn: &turn{ratios: ratios}},
		{name: "events off", target: 0.90, turn: &turn{ratios: ratios, args: []string{"--events=false"}}},
		{name: "originals stamped at creation", target: 1.25, turn: &turn{ratios: ratios, stamped: true}},
	}
	// Additional turns after each round. A client that keeps pods sized must watch them: the first
	// shows the cost of the watch alone. The pods are new, so that the defaults hold none of them back.
	additional := []*variant{
		{name: "bare client with a watch", bareArgs: []string{"--watch"}},
		{name: "events on, default configuration", target: 0.85, turn: &turn{ratios: defaults}},
	}
	// The first turn on a new API server differs from the others.
	b.say("throughput, before the first round: bare")
	if _, err := b.bareWork(ctx); err != nil {
		return err
	}
	for round := range b.rounds {
		turns := []*variant{}
		for _, i := range order[round%len(order)] {
			turns = append(turns, variants[i])
		}
		for _, v := range append(turns, additional...) {
			b.say("throughput, round %d of %d: %s", round+1, b.rounds, v.name)
			w, err := v.run(ctx, b)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			b.say("  %+v", w)
			v.works = append(v.works, w)
		}
	}
	perPod := func(w work) float64 { return 1000 * (w.client + w.cluster) / float64(b.pods) }
	client := func(w work) float64 { return 1000 * w.client / float64(b.pods) }
	bare := variants[0]
	for _, v := range append(variants[1:], additional...) {
		line := b.report.compareRounds("aligned pods, "+v.name, v.all(b.rate), bare.all(b.rate), "pods/s")
		if v.target > 0 {
			line.atLeast(v.target)
		}
		b.report.compareRounds("CPU per aligned pod, API server included, "+v.name, v.all(perPod), bare.all(perPod), "ms")
		b.report.compareRounds("CPU per aligned pod, "+v.name, v.all(client), bare.all(client), "ms")
	}
	return b.profile(ctx, variants[1:])
}

// rate returns how many pods per second were resized.
func (b *bench) rate(w work) float64 { return float64(b.pods) / w.took }

// all returns one figure of each round.
func (v *variant) all(of func(work) float64) []float64 {
	var values []float64
	for _, w := range v.works {
		values = append(values, of(w))
	}
	return values
}
