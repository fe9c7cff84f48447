package intake

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Run reads the feeds in the settings until ctx is done. Then it returns nil.
func (in *Intake) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() { in.followSettings(ctx) })
	return in.feeds.Run(ctx)
}

// Feeds returns the status of the feeds, by name.
func (in *Intake) Feeds() []fetch.Status { return in.feeds.Statuses() }

func (in *Intake) followSettings(ctx context.Context) {
	changed := in.config.Provider.WatchSettings()
	for {
		if set, _ := in.config.Provider.Settings(); set != nil {
			in.feeds.Set(set.Feeds)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// deliver stores the samples of a feed.
func (in *Intake) deliver(ctx context.Context, feed string, read []sample.Sample) error {
	// The table determines the names of node types, and stored samples keep theirs.
	if in.config.Ratios.Table() == nil {
		return fmt.Errorf("store the samples of feed %s: there is no ratio table yet to determine their node types", feed)
	}
	now := in.config.Clock.Now()
	good := make([]sample.Sample, 0, len(read))
	for _, s := range read {
		s.NodeType = cmp.Or(s.NodeType, in.NodeType(s.InstanceType))
		s.Source = cmp.Or(s.Source, feed)
		// The feed has validated its rows, but not the resulting node types.
		if len(s.Validate(now)) == 0 {
			good = append(good, s)
		}
	}
	if _, err := in.samples.Add(ctx, good); err != nil {
		return fmt.Errorf("store the samples of feed %s: %w", feed, err)
	}
	return nil
}
