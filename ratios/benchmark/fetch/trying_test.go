package fetch

import (
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestTrying(t *testing.T) {
	t.Run("reads few feeds at a time", readsFewFeedsAtATime)
}

func readsFewFeedsAtATime(t *testing.T) {
	const all = 6
	p := poll(t)
	var reading, peak, read atomic.Int64
	next := make(chan struct{})
	p.read = func(f feed.Format, r io.Reader, o feed.Options) (feed.Result, error) {
		peak.Store(max(peak.Load(), reading.Add(1)))
		<-next
		defer func() { reading.Add(-1); read.Add(1) }()
		return lines(f, r, o)
	}
	var feeds []Feed
	for i := range all {
		path := filepath.Join(t.TempDir(), "feed")
		write(t, path, fmt.Sprint(i))
		feeds = append(feeds, Feed{Name: fmt.Sprint("f", i), Place: Place{File: path}, Interval: time.Hour})
	}
	p.Set(feeds)
	for done := range int64(all) {
		localcluster.Eventually(t, "the maximum number of feeds to be read", func() error {
			p.clock.Step(time.Second)
			if got, want := reading.Load(), min(maxTries, all-done); got != want || read.Load() != done {
				return fmt.Errorf("%d of %d, after %d", got, want, read.Load())
			}
			return nil
		})
		next <- struct{}{}
	}
	localcluster.Eventually(t, "all to be read", func() error {
		if read.Load() != all {
			return fmt.Errorf("%d are read", read.Load())
		}
		return nil
	})
	if peak.Load() > maxTries {
		t.Errorf("%d were read at a time", peak.Load())
	}
}
