package fetch

import (
	"context"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Config is what a Poller is made of. All fields must be set.
type Config struct {
	// Client and Namespace are for feeds in ConfigMaps. The client may get those
	// that are named; others are an error of the feed.
	Client    kubernetes.Interface
	Namespace string
	Clock     clock.WithTicker
	// Deliver takes the samples of a feed each time that it was read, and once a
	// day of one that is unchanged; never none. An error counts as one of the
	// feed, and they are delivered again. It is called for several feeds at a
	// time. Its context ends when the feed is removed.
	Deliver func(ctx context.Context, feed string, samples []sample.Sample) error
}

const (
	// maxBytes is how large a feed may be, decompressed.
	maxBytes = 64 << 20
	// timeout is how long getting a feed may take, and delivering it.
	timeout = time.Minute
	// maxTries is how many feeds are got, read and delivered at a time: a large one
	// takes a gigabyte while that lasts. Two, so that one that hangs does not keep
	// all others waiting.
	maxTries = 2
)

// Poller reads feeds, each at its interval. All methods may be called at any time
// from any goroutine.
type Poller struct {
	config    Config
	transport *http.Transport
	// Tests have others than New sets.
	read     func(feed.Format, io.Reader, feed.Options) (feed.Result, error)
	jitter   func(d time.Duration, maxFactor float64) time.Duration
	timeout  time.Duration
	maxBytes int64
	// trying has those that are under way.
	trying chan struct{}

	mu    sync.Mutex
	feeds map[string]*polled
	// start has a feed polled; nil unless Run does.
	start   func(*polled)
	changes broadcast.Broadcast
}

// New returns a poller without feeds.
func New(c Config) *Poller {
	return &Poller{
		config: c, transport: http.DefaultTransport.(*http.Transport).Clone(),
		read: feed.Read, jitter: wait.Jitter, timeout: timeout, maxBytes: maxBytes,
		trying: make(chan struct{}, maxTries), feeds: map[string]*polled{},
	}
}

// Set replaces the feeds. One that is as before goes on as it was; one that
// changed begins anew.
func (p *Poller) Set(feeds []Feed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.feeds
	p.feeds = map[string]*polled{}
	for _, f := range feeds {
		if same := before[f.Name]; same != nil && reflect.DeepEqual(same.feed, f) {
			p.feeds[f.Name] = same
			continue
		}
		p.feeds[f.Name] = p.newPolled(f)
	}
	for name, f := range before {
		if p.feeds[name] != f && f.stop != nil {
			f.stop()
		}
	}
	for name, f := range p.feeds {
		if before[name] != f && p.start != nil {
			p.start(f)
		}
	}
	p.changes.Notify()
}

// Run reads until ctx is done; then it returns nil.
func (p *Poller) Run(ctx context.Context) error {
	var running sync.WaitGroup
	p.mu.Lock()
	p.start = func(f *polled) {
		var one context.Context
		one, f.stop = context.WithCancel(ctx)
		running.Go(func() { f.run(one) })
	}
	for _, f := range p.feeds {
		p.start(f)
	}
	p.mu.Unlock()

	<-ctx.Done()
	p.mu.Lock()
	p.start = nil
	p.mu.Unlock()
	running.Wait()
	p.transport.CloseIdleConnections()
	return nil
}

// Statuses are by name.
func (p *Poller) Statuses() []Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Status, 0, len(p.feeds))
	for _, name := range slices.Sorted(maps.Keys(p.feeds)) {
		all = append(all, p.feeds[name].status)
	}
	return all
}

// Watch returns a channel that receives after every change of a status; changes
// that come faster than they are received are one.
func (p *Poller) Watch() <-chan struct{} { return p.changes.Watch() }
