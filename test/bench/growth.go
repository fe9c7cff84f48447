package main

import (
	"context"
	"slices"
)

// growth measures how the cost of quiet pods grows with their number: memory, the start,
// the idle server, a change to a ratio, and the speed at which other pods are resized.
func growth(ctx context.Context, b *bench) error {
	b.say("growth: quiet pods on %d nodes of %d types", quietTypes*quietNodes, quietTypes)
	if err := b.prepareQuiet(ctx); err != nil {
		return err
	}
	none, err := b.quietCost(ctx, 0)
	if err != nil {
		return err
	}
	if err := b.quietTemplates(ctx); err != nil {
		return err
	}
	alone, err := b.alongside(ctx, 0)
	if err != nil {
		return err
	}
	// Measure this first: after the largest number of pods, the API server needs
	// more memory, because it has not forgotten the pods yet.
	if err := b.lonePods(ctx, none); err != nil {
		return err
	}
	costs := map[int]*cost{}
	for _, pods := range b.sizes {
		if err := b.fillQuiet(ctx, pods, perWorkload); err != nil {
			return err
		}
		b.say("growth: %d pods", pods)
		c, err := b.quietCost(ctx, pods)
		if err != nil {
			return err
		}
		b.tellCost(pods, c, none)
		if c.requests, err = b.startRequests(ctx, pods); err != nil {
			return err
		}
		if c.change, err = b.changeCost(ctx, pods); err != nil {
			return err
		}
		costs[pods] = c
		if b.compared(pods) {
			if err := b.tellAlongside(ctx, pods, alone); err != nil {
				return err
			}
		}
	}
	b.compareGrowth(costs)
	return nil
}

// compared reports whether this number of pods is compared: the one that targets apply
// to, and the largest.
func (b *bench) compared(pods int) bool { return pods == b.quiet || pods == slices.Max(b.sizes) }
