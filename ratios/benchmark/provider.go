package benchmark

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
)

// Source is the name of this source.
const Source = "benchmark"

// Config is what a Provider is made of. All fields must be set, where no default
// is named.
type Config struct {
	// Client must be allowed to list and watch the ConfigMap of the settings, and
	// to list, watch, get and update the others; it must not bound the time of a
	// watch.
	Client    kubernetes.Interface
	Namespace string
	// SettingsName and StateName are ConfigMaps; SamplesPrefix is what the names
	// of those with samples begin with.
	SettingsName, StateName, SamplesPrefix string
	// ReadOnly keeps everything in memory only.
	ReadOnly bool
	// Clock is the system's by default.
	Clock clock.Clock
	// OnReject is told of content that is bad; it must not block. By default
	// nobody is.
	OnReject func(*corev1.ConfigMap, error)
}

// Provider is the source. All methods may be called at any time from any
// goroutine.
type Provider struct {
	config     Config
	samples    *samples.Store
	document   *document.Document[Published]
	configured broadcast.Broadcast

	mu sync.Mutex
	// report is nil unless the provider runs.
	report func(ratios.Update)
	told   told
	// settings are the last good ones; nil until they were read.
	settings    *settings.Settings
	settingsErr error
	// published is in force, and layer what it comes to; nil until it was read.
	published    Published
	publishedErr error
	layer        *ratios.Layer
	// ended are node types that are not published any more, with the end of the
	// window that they were judged by last.
	ended map[string]time.Time
}

var _ ratios.Provider = (*Provider)(nil)

// New returns a provider that knows nothing yet.
func New(c Config) *Provider {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.OnReject == nil {
		c.OnReject = func(*corev1.ConfigMap, error) {}
	}
	p := &Provider{config: c, ended: map[string]time.Time{}}
	p.samples = samples.New(samples.Config{
		Client: c.Client, Namespace: c.Namespace, Prefix: c.SamplesPrefix,
		ReadOnly: c.ReadOnly, Clock: c.Clock, OnReject: c.OnReject,
	})
	p.document = document.New(document.Config[Published]{
		Source:   follow.ConfigMap{Client: c.Client, Namespace: c.Namespace, Name: c.StateName},
		Noun:     "measured ratios",
		ReadOnly: c.ReadOnly,
		Clock:    c.Clock,
		Parse:    parsePublished,
		Accept:   p.accept,
		Reject:   p.reject,
		OnReject: c.OnReject,
	})
	return p
}

// Name implements ratios.Provider.
func (p *Provider) Name() string { return Source }

// Samples are what was measured.
func (p *Provider) Samples() *samples.Store { return p.samples }

// Missing says that samples or ratios cannot be stored, for there is no ConfigMap,
// where nothing else says so; nil otherwise, also where none may be stored at all.
func (p *Provider) Missing() error { return errors.Join(p.samples.Missing(), p.document.Missing()) }

// Run implements ratios.Provider. What was published stays in force whatever
// becomes of settings and samples; a ConfigMap of it that is missing from the start
// has nothing in it.
func (p *Provider) Run(ctx context.Context, report func(ratios.Update)) error {
	p.reportTo(report)
	defer p.reportTo(nil)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := []func(context.Context) error{p.document.Run, p.followSettings, p.samples.Run, p.watchSamples}
	errs := make(chan error, len(parts))
	for _, part := range parts {
		go func() {
			err := part(ctx)
			if err != nil {
				cancel()
			}
			errs <- err
		}()
	}
	var all []error
	for range parts {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// watchSamples has the source told as unhealthy while samples are not known.
func (p *Provider) watchSamples(ctx context.Context) error {
	changed := p.samples.Watch()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			p.tell()
		}
	}
}
