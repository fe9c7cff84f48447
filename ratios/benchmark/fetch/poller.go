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

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Config configures a Poller. All fields must be set.
type Config struct {
	// Client and Namespace are for feeds in ConfigMaps. If the client is not allowed
	// to get a ConfigMap, the feed has an error.
	Client    kubernetes.Interface
	Namespace string
	Clock     clock.WithTicker
	// Deliver receives the samples of a feed after every read, and once a day if
	// the feed is unchanged; it always receives at least one sample. An error
	// counts as an error of the feed, and the samples are delivered again. Deliver
	// is called concurrently for several feeds. Its context ends when the feed is
	// removed.
	Deliver func(ctx context.Context, feed string, samples []sample.Sample) error
}

const (
	// maxBytes is the maximum size of a feed as it is stored or sent.
	maxBytes = 64 << 20
	// timeout limits getting a feed, and delivering it.
	timeout = time.Minute
	// maxTries is how many feeds are processed at a time. It is 2 so that one feed that hangs does not
	// block all others.
	maxTries = 2
)

// Poller reads feeds, each at its interval. All methods are safe for concurrent use.
type Poller struct {
	config    Config
	transport *http.Transport
	// Tests replace these values of New.
	read     func(feed.Format, io.Reader, feed.Options) (feed.Result, error)
	jitter   func(d time.Duration, maxFactor float64) time.Duration
	timeout  time.Duration
	maxBytes int64
	// tried is called after each try. It does nothing by default.
	tried func()
	// trying holds one item per try in progress.
	trying chan struct{}

	mu    sync.Mutex
	feeds map[string]*polled
	// start starts polling a feed; nil unless Run is active.
	start func(*polled)
}

// New returns a poller without feeds.
func New(c Config) *Poller {
	return &Poller{
		config: c, transport: newTransport(),
		read: feed.Read, jitter: wait.Jitter, timeout: timeout, maxBytes: maxBytes, tried: func() {},
		trying: make(chan struct{}, maxTries), feeds: map[string]*polled{},
	}
}

// Set replaces the feeds. An unchanged feed continues; a changed feed starts again.
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
}

// Run reads the feeds until ctx is done. Then it returns nil.
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

// Statuses returns the status of every feed, by name.
func (p *Poller) Statuses() []Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Status, 0, len(p.feeds))
	for _, name := range slices.Sorted(maps.Keys(p.feeds)) {
		all = append(all, p.feeds[name].status)
	}
	return all
}
