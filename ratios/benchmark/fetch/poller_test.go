package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var began = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// lines reads a feed whose rows are IDs, or "bad"; "broken" makes the feed invalid.
func lines(_ feed.Format, r io.Reader, o feed.Options) (feed.Result, error) {
	var result feed.Result
	for s := bufio.NewScanner(r); s.Scan(); {
		result.Rows++
		switch id := s.Text(); id {
		case "broken":
			return feed.Result{}, errors.New("unknown format")
		case "bad":
			result.Bad++
			result.Faults = append(result.Faults, feed.Fault{Line: result.Rows, Field: "score", Reason: "must be above 0"})
		default:
			result.Samples = append(result.Samples, sample.Sample{ID: id, Source: o.Source, Time: o.Now})
		}
	}
	return result, nil
}

// polling is a running poller without jitter, on a clock that the test controls.
type polling struct {
	*Poller
	t     *testing.T
	clock *testingclock.FakeClock
	// changed receives a value after each try.
	changed chan struct{}
	end     func() error

	mu sync.Mutex
	// delivered are the samples of each delivery; refuse is the error of all deliveries.
	delivered [][]sample.Sample
	refuse    error
}

// poll starts a poller of feeds that are not in ConfigMaps. It returns before the first try.
func poll(t *testing.T, feeds ...Feed) *polling {
	t.Helper()
	return pollIn(t, "default", nil, feeds...)
}

// pollIn is poll with ConfigMaps in a namespace.
func pollIn(t *testing.T, namespace string, client kubernetes.Interface, feeds ...Feed) *polling {
	t.Helper()
	p := &polling{t: t, clock: testingclock.NewFakeClock(began), changed: make(chan struct{}, 1)}
	p.Poller = New(Config{Client: client, Namespace: namespace, Clock: p.clock, Deliver: p.deliver})
	p.read, p.jitter, p.maxBytes = lines, func(d time.Duration, _ float64) time.Duration { return d }, 1<<10
	p.tried = func() {
		select {
		case p.changed <- struct{}{}:
		default:
		}
	}
	p.Set(feeds)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	p.end = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := p.end(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *polling) deliver(_ context.Context, _ string, samples []sample.Sample) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		return p.refuse
	}
	p.delivered = append(p.delivered, samples)
	return nil
}

// refuseSamples makes Deliver return an error; nil ends this.
func (p *polling) refuseSamples(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = err
}

// after advances the clock by the time after which the only feed must be tried, and not a
// second earlier. It returns the status of the feed.
func (p *polling) after(d time.Duration) Status {
	p.t.Helper()
	deadline := time.Now().Add(localcluster.Patience)
	for !p.clock.HasWaiters() {
		if time.Now().After(deadline) {
			p.t.Fatal("the feed does not wait for its next try")
		}
		runtime.Gosched()
	}
	p.clock.Step(d - time.Second)
	if !p.clock.HasWaiters() {
		p.t.Fatalf("tried again before %s", d)
	}
	p.clock.Step(time.Second)
	select {
	case <-p.changed:
	case <-time.After(localcluster.Patience):
		p.t.Fatalf("not tried again after %s", d)
	}
	s := p.Statuses()[0]
	if !s.LastTry.Equal(p.clock.Now()) {
		p.t.Fatalf("last tried at %s, now it is %s", s.LastTry, p.clock.Now())
	}
	return s
}

// first returns the status after the first try.
func (p *polling) first() Status { p.t.Helper(); return p.after(firstPause) }

// wantDelivered fails unless the deliveries so far had samples of these ids.
func (p *polling) wantDelivered(want ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var got []string
	for _, samples := range p.delivered {
		var ids []string
		for _, s := range samples {
			ids = append(ids, s.ID)
		}
		got = append(got, strings.Join(ids, " "))
	}
	if !slices.Equal(got, want) {
		p.t.Errorf("delivered %q, want %q", got, want)
	}
}

// wantErr fails unless the feed's error contains the text; empty means no error.
func (p *polling) wantErr(s Status, want string) {
	p.t.Helper()
	if (s.Err == nil) != (want == "") || s.Err != nil && !strings.Contains(s.Err.Error(), want) {
		p.t.Errorf("error %v, want %q", s.Err, want)
	}
}
