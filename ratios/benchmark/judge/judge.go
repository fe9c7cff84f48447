package judge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
)

// Ratios are those in force, of all sources; a ratios.Store is.
type Ratios interface {
	// Table is nil while there is none.
	Table() *ratios.Table
	// LookupWithout returns what the sources other than this one say of a node type.
	LookupWithout(source, nodeType string) (ratios.Ratio, bool)
}

// Config is what a Judge is made of. All fields must be set, where no default is
// named.
type Config struct {
	// Provider has the samples and the settings, and publishes what is judged.
	Provider *benchmark.Provider
	Ratios   Ratios
	// Leads tells whether this replica is the one that moves ratios; by default it
	// is.
	Leads func() bool
	// Clock is the system's by default.
	Clock clock.WithTicker
}

// Judge moves what its provider publishes. All methods may be called at any time from
// any goroutine.
type Judge struct {
	config Config
	view   views
}

// New returns a judge that moves nothing until Run.
func New(c Config) *Judge {
	if c.Leads == nil {
		c.Leads = func() bool { return true }
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	return &Judge{config: c}
}

// retryPeriod is how soon a judgement that could not be made or stored is tried
// again.
const retryPeriod = 10 * time.Second

// Run judges every window once it has ended, where this replica leads, until ctx is
// done; then it returns nil.
func (j *Judge) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	configured := j.config.Provider.WatchSettings()
	last := ""
	for {
		err := j.Judge(ctx)
		if ctx.Err() != nil {
			return nil
		}
		next := j.next(err)
		if text := fmt.Sprint(err); err != nil && text != last {
			logger.Error(err, "Measured ratios stay as they are, trying again")
			last = text
		}
		timer := j.config.Clock.NewTimer(next.Sub(j.config.Clock.Now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-configured:
			timer.Stop()
		case <-timer.C():
		}
	}
}

// next is when the present window ends, or earlier if the last judgement was none.
func (j *Judge) next(failed error) time.Time {
	now := j.config.Clock.Now()
	retry := now.Add(retryPeriod)
	set, _ := j.config.Provider.Settings()
	if set == nil {
		return retry
	}
	if end := set.Pace.NextWindow(now); failed == nil || end.Before(retry) {
		return end
	}
	return retry
}

// Judge moves what is published by what is known now, if this replica leads and
// the window that ended last was not judged yet; Run does so by itself. Where not
// all of that is known, everything stays as it is: samples that cannot be read have
// not aged.
func (j *Judge) Judge(ctx context.Context) error {
	if !j.config.Leads() || j.config.Ratios.Table() == nil {
		return nil
	}
	_, err := j.config.Provider.Settings()
	if err := errors.Join(j.config.Provider.Samples().Err(), err); err != nil {
		return err
	}
	v, err := j.View()
	if err != nil {
		return err
	}
	return j.config.Provider.Publish(ctx, func(now benchmark.Published) (benchmark.Published, bool) { return j.moved(ctx, now, v) })
}
