package measured

import (
	"context"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Windows are the windows that a source judges.
type Windows struct {
	// Source is the name of the source.
	Source string
	// Judge judges the last window that ended, unless it has been judged.
	Judge func(context.Context) error
	// Leads reports whether this replica judges. Until it does, calls of Judge must be cheap.
	Leads func() bool
	// Next returns when the current window ends; zero while that is not known.
	Next func(now time.Time) time.Time
	// Changed receives when the windows may have changed; nil if they never do.
	Changed <-chan struct{}
	Clock   clock.WithTicker
}

// RetryPeriod is how soon a judgment that could not be made or stored is tried again, and how soon a replica that begins to lead judges.
const RetryPeriod = 10 * time.Second

// Run judges each window after its end, while this replica leads, until ctx is done. Then it returns nil.
func (w *Windows) Run(ctx context.Context) error {
	last := ""
	for {
		err := w.Judge(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && err.Error() != last {
			klog.FromContext(ctx).Error(err, "Measured ratios not updated; trying again", "source", w.Source)
			last = err.Error()
		}
		now := w.Clock.Now()
		timer := w.Clock.NewTimer(w.due(now, err).Sub(now))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-w.Changed:
			timer.Stop()
		case <-timer.C():
		}
	}
}

// due returns when to judge next.
func (w *Windows) due(now time.Time, failed error) time.Time {
	end, retry := w.Next(now), now.Add(RetryPeriod)
	if end.IsZero() || (failed != nil || !w.Leads()) && retry.Before(end) {
		return retry
	}
	return end
}
