package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Freshness is how long the content of a feed stays fresh. After that, unchanged content is
// read and delivered again.
const Freshness = 24 * time.Hour

// polled is a feed that is polled. Unless a comment says otherwise, only the goroutine of run
// uses its fields. The poller's lock guards status and stop.
type polled struct {
	poller *Poller
	feed   Feed
	source source
	// servers is the source of the table of servers; nil if there is none.
	servers source
	// stop ends run; nil before run starts.
	stop context.CancelFunc

	// sum is the checksum of the content that was read last, at readTime, and fault
	// is the error that affects this content as a whole.
	sum      [sha256.Size]byte
	readTime time.Time
	fault    error
	// hadGood means that there has been a copy with valid rows.
	hadGood bool
	// pending are the samples that were read and not delivered yet.
	pending []sample.Sample
	// failures counts consecutive failed tries.
	failures int

	status Status
}

func (p *Poller) newPolled(f Feed) *polled {
	made := &polled{poller: p, feed: f, source: p.source(&f.Place, f.Insecure), status: Status{Feed: f}}
	if f.Servers != nil {
		made.servers = p.source(f.Servers, f.Insecure)
	}
	return made
}

// run polls until ctx is done.
func (f *polled) run(ctx context.Context) {
	// Many replicas and feeds that start together must not send requests together.
	timer := f.poller.config.Clock.NewTimer(f.poller.jitter(firstPause, 4))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
		select {
		case <-ctx.Done():
			return
		case f.poller.trying <- struct{}{}:
		}
		err := f.try(ctx)
		<-f.poller.trying
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			f.failures = 0
		} else {
			f.failures++
		}
		timer.Reset(f.pause(err))
	}
}

// try gets the feed and delivers its new samples. Samples that could not be delivered before
// are delivered even if the feed is unavailable.
func (f *polled) try(ctx context.Context) error {
	now := f.poller.config.Clock.Now()
	result, err := f.refresh(ctx, now)
	if len(f.pending) > 0 {
		err = both(err, f.deliver(ctx))
	}
	if ctx.Err() != nil {
		return ctx.Err() // Not the feed's fault.
	}
	f.poller.mu.Lock()
	defer f.poller.mu.Unlock()
	f.status.LastTry = now
	if result != nil {
		f.status.Result = *result
	}
	switch last := f.status.LastSuccess; {
	case err == nil:
		f.status.LastSuccess, f.status.Err = now, nil
	case last.IsZero():
		f.status.Err = err
	default:
		f.status.Err = fmt.Errorf("%w; the copy from %s ago stays in effect", err, duration.HumanDuration(now.Sub(last)))
	}
	f.poller.tried()
	return err
}

// refresh gets the feed, and reads it if it changed or is no longer fresh. It returns the new
// result for the status; nil leaves the previous one.
func (f *polled) refresh(ctx context.Context, now time.Time) (*feed.Result, error) {
	stale := now.Sub(f.readTime) >= Freshness
	options := feed.Options{
		Source: f.feed.Name, Benchmark: f.feed.Benchmark, InstanceType: f.feed.InstanceType, Now: now, VCPUs: f.feed.VCPUs, MaxAge: f.feed.MaxAge,
	}
	content, err := f.get(ctx, f.source, stale)
	switch {
	case errors.Is(err, errUnchanged):
		return nil, f.fault
	case err != nil:
		return nil, fmt.Errorf("get %s: %w", f.feed.Location(), err)
	}
	sum := sha256.Sum256(content)
	if sum == f.sum && !stale {
		return nil, f.fault
	}
	if options.Servers, err = f.readServers(ctx); err != nil {
		f.readTime = time.Time{} // Otherwise, the source would call this content unchanged.
		return nil, err
	}
	f.sum, f.readTime = sum, now
	result, err := f.poller.read(f.feed.Format, bytes.NewReader(content), options)
	samples := result.Samples
	result.Samples = nil
	if err == nil && len(samples) == 0 && (f.hadGood || result.Bad > 0) {
		err = noGoodRow(result)
	}
	if err != nil {
		f.fault = fmt.Errorf("read %s: %w", f.feed.Location(), err)
		if f.hadGood {
			return nil, f.fault
		}
		return &result, f.fault
	}
	f.fault, f.pending, f.hadGood = nil, samples, len(samples) > 0
	return &result, nil
}

// readServers reads the table of servers. It is read whenever the feed is.
func (f *polled) readServers(ctx context.Context) (feed.Servers, error) {
	if f.servers == nil {
		return nil, nil
	}
	content, err := f.get(ctx, f.servers, true)
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", f.feed.Servers.Location(), err)
	}
	servers, err := feed.ReadServers(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.feed.Servers.Location(), err)
	}
	return servers, nil
}

func (f *polled) get(ctx context.Context, from source, whole bool) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, f.poller.timeout)
	defer cancel()
	content, err := from.get(limited, whole)
	if err != nil && limited.Err() != nil {
		return nil, fmt.Errorf("timed out after %s", f.poller.timeout)
	}
	return content, err
}

func (f *polled) deliver(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, f.poller.timeout)
	defer cancel()
	if err := f.poller.config.Deliver(limited, f.feed.Name, f.pending); err != nil {
		return fmt.Errorf("store the samples of %s: %w", f.feed.Location(), err)
	}
	f.pending = nil
	return nil
}

// both is errors.Join on one line.
func both(a, b error) error {
	if a == nil || b == nil {
		return errors.Join(a, b)
	}
	return fmt.Errorf("%w; %w", a, b)
}

// noGoodRow returns what is wrong with a copy that has no valid row.
func noGoodRow(r feed.Result) error {
	if len(r.Faults) == 0 {
		return fmt.Errorf("none of the %d rows is a sample", r.Rows)
	}
	first := r.Faults[0]
	return fmt.Errorf("none of the %d rows is valid, e.g. line %d: %s %s", r.Rows, first.Line, first.Field, first.Reason)
}
