package main

import (
	"context"
	"slices"
)

// growth measures what quiet pods cost, the more of them there are: memory, the
// start, the idle server, a ratio that changes, and how fast others are resized beside
// them.
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
	alone, err := b.beside(ctx, 0)
	if err != nil {
		return err
	}
	// After the most pods an API server has forgotten nothing yet, and needs the memory of
	// many more.
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
			if err := b.tellBeside(ctx, pods, alone); err != nil {
				return err
			}
		}
	}
	b.compareGrowth(costs)
	return nil
}

// compared tells whether this is one of the numbers of pods that are compared: the one
// that targets are for, and the most.
func (b *bench) compared(pods int) bool { return pods == b.quiet || pods == slices.Max(b.sizes) }
