package usage

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

const (
	// period is how much time a usage covers.
	period = time.Minute
	// firstPeriod is the shortest first period. Up to a period is added, at random, so that
	// agents that start at the same time report at different times from then on.
	firstPeriod = period / 2
)

// Reporter measures a node and reports the usages once a minute, and immediately if a container may be
// about to be killed.
type Reporter struct {
	Sampler *Sampler
	// Interval is the time between samples.
	Interval time.Duration
	// Report receives usages. It must return quickly.
	Report func([]Usage)
	Log    *slog.Logger
}

// Run samples and reports until ctx is done, and then reports the time since the last report.
func (r *Reporter) Run(ctx context.Context) {
	ticks := time.NewTicker(r.Interval)
	defer ticks.Stop()
	next := time.Now().Add(firstPeriod + rand.N(period))
	problem := ""
	for {
		problem = r.note(r.Sampler.Sample(), problem)
		if urgent := r.Sampler.Urgent(); len(urgent) > 0 {
			r.Report(urgent)
		}
		if now := time.Now(); !now.Before(next) {
			r.Report(r.Sampler.Fold())
			for !now.Before(next) {
				next = next.Add(period)
			}
		}
		select {
		case <-ctx.Done():
			r.note(r.Sampler.Sample(), problem)
			r.Report(r.Sampler.Fold())
			return
		case <-ticks.C:
		}
	}
}

// note logs an error if it is another one than in the previous sample.
func (r *Reporter) note(err error, previous string) string {
	now := ""
	if err != nil {
		now = err.Error()
	}
	switch now {
	case previous:
	case "":
		r.Log.Info("All containers are measured again")
	default:
		r.Log.Warn("Not all containers were measured", "err", err)
	}
	return now
}
