package demand

import (
	"context"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/usage"
)

// Source is a source of usage, and when it is read.
type Source struct {
	usage.Source
	// Interval is the time between two reads.
	Interval time.Duration
	// Backfill is how far the first read reaches back.
	Backfill time.Duration
	// Optional means that nobody may deliver anything: without any sample, it is not stale.
	Optional bool
}

// reading is the state of a source.
type reading struct {
	Source
	mu sync.Mutex
	// began is when the time begins that the first read reaches back to.
	began time.Time
	// logged is the last error in the log.
	logged string
}

// SourceStatus is the state of a source of usage.
type SourceStatus struct {
	usage.Status
	// Interval is the time between two reads.
	Interval time.Duration
	// Backfill is how far the first read reaches back, and Began when that time begins; zero if this
	// process has not read the source.
	Backfill time.Duration
	Began    time.Time
	// Optional means that it is not stale without any sample.
	Optional bool
}

// Backfilled returns which share of the first read is done, from 0 to 1; false if it is not known yet.
func (s *SourceStatus) Backfilled() (share float64, known bool) {
	switch {
	case s.Backfill == 0 || s.Began.IsZero():
		return 0, false
	case s.Read.IsZero():
		return 0, true
	}
	return min(max(float64(s.Read.Sub(s.Began))/float64(s.Backfill), 0), 1), true
}

// Sources returns the state of all sources, the preferred one first.
func (d *Demands) Sources() []SourceStatus {
	all := make([]SourceStatus, len(d.sources))
	for i, status := range d.store.Sources() {
		r := d.sources[i]
		r.mu.Lock()
		all[i] = SourceStatus{Status: status, Interval: r.Interval, Backfill: r.Backfill, Began: r.began, Optional: r.Optional}
		r.mu.Unlock()
	}
	return all
}

// read reads a source again and again while this process leads, until ctx is done.
func (d *Demands) read(ctx context.Context, r *reading) {
	ticker := d.Clock.NewTicker(r.Interval)
	defer ticker.Stop()
	for {
		if d.Collects() && d.Ratios.Table() != nil {
			d.readOnce(ctx, r)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// readOnce reads what a source has measured since its last read.
func (d *Demands) readOnce(ctx context.Context, r *reading) {
	r.mu.Lock()
	if r.began.IsZero() {
		r.began = d.Clock.Now().Add(-r.Backfill)
	}
	began := r.began
	r.mu.Unlock()
	ctx, stop := d.whileCollecting(ctx)
	defer stop()
	err := d.store.Collect(ctx, existing{r.Source.Source, d}, began, d.Clock.Now())
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log(ctx, err)
}

// log logs how a read ended, unless the one before ended in the same way: a source may fail for days.
func (r *reading) log(ctx context.Context, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == r.logged {
		return
	}
	if r.logged = text; err == nil {
		klog.FromContext(ctx).Info("Usage read again", "source", r.Name())
		return
	}
	klog.FromContext(ctx).Error(err, "Usage not read completely", "source", r.Name())
}

// whileCollecting returns a context that ends when another replica leads: what is counted after
// that would be lost, or count twice if this replica leads again.
func (d *Demands) whileCollecting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	ticker := d.Clock.NewTicker(time.Second)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C():
				if !d.Collects() {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}
