package intake

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Run reads the feeds that the settings name, until ctx is done; then it returns nil.
func (in *Intake) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() { in.followSettings(ctx) })
	return in.feeds.Run(ctx)
}

// Feeds are by name.
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

// deliver takes over what a feed says.
func (in *Intake) deliver(ctx context.Context, feed string, read []sample.Sample) error {
	// Types are called otherwise once a table names them, and what is kept stays.
	if in.config.Ratios.Table() == nil {
		return fmt.Errorf("keep the samples of feed %s: no table of ratios is known yet that tells what their node types are called", feed)
	}
	now := in.config.Clock.Now()
	good := make([]sample.Sample, 0, len(read))
	for _, s := range read {
		s.NodeType = cmp.Or(s.NodeType, in.NodeType(s.InstanceType))
		s.Source = cmp.Or(s.Source, feed)
		// A feed checks what it reads, but not what its types are called by.
		if len(s.Validate(now)) == 0 {
			good = append(good, s)
		}
	}
	if _, err := in.samples.Add(ctx, good); err != nil {
		return fmt.Errorf("keep the samples of feed %s: %w", feed, err)
	}
	return nil
}
