package judge

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
)

// Config configures a Judge. All fields without a default must be set.
type Config struct {
	// Provider has the samples and the settings, and publishes the ratios.
	Provider *benchmark.Provider
	Ratios   measured.Ratios
	// Sizes returns, by node type and number of vCPUs, the vCPUs in the nodes of this size.
	// By default, all sizes count alike.
	Sizes func() map[string]map[int]float64
	// Leads reports whether this replica changes ratios. By default, it does.
	Leads func() bool
	// Clock is the system clock by default.
	Clock clock.WithTicker
}

// Judge changes the ratios that its provider publishes. All methods are safe for concurrent
// use.
type Judge struct {
	config Config
	view   views
}

// New returns a judge that changes nothing until Run.
func New(c Config) *Judge {
	if c.Sizes == nil {
		c.Sizes = func() map[string]map[int]float64 { return nil }
	}
	if c.Leads == nil {
		c.Leads = func() bool { return true }
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	return &Judge{config: c}
}

// Run judges every window after its end, while this replica leads, until ctx is done. Then it
// returns nil.
func (j *Judge) Run(ctx context.Context) error {
	windows := &measured.Windows{
		Source: benchmark.Source, Judge: j.Judge, Leads: j.config.Leads, Next: j.next,
		Changed: j.config.Provider.WatchSettings(), Clock: j.config.Clock,
	}
	return windows.Run(ctx)
}

// next returns when the current window ends; zero while settings are not known.
func (j *Judge) next(now time.Time) time.Time {
	set, _ := j.config.Provider.Settings()
	if set == nil {
		return time.Time{}
	}
	return set.Pace.NextWindow(now)
}

// Judge updates the published ratios if this replica leads and the last window that ended has
// not been judged yet. Run calls it automatically. If the settings or samples are not fully
// known, nothing changes: samples that cannot be read do not count as expired.
func (j *Judge) Judge(ctx context.Context) error {
	if !j.config.Leads() {
		return nil
	}
	if j.config.Ratios.Table() == nil {
		return measured.ErrNoRatios
	}
	_, err := j.config.Provider.Settings()
	if err := errors.Join(j.config.Provider.Samples().Err(), err); err != nil {
		return err
	}
	v, err := j.View()
	if err != nil {
		return err
	}
	judgment := j.judgment(v)
	return j.config.Provider.Publish(ctx, func(now measured.Published) (measured.Published, bool) {
		// A view may have been made before the window has ended.
		return judgment.Move(ctx, now, j.config.Provider.JudgedBefore, j.config.Clock.Now())
	})
}
