package benchmark

import (
	"context"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
)

// Source is the name of this source.
const Source = "benchmark"

// Config configures a Provider. All fields without a default must be set.
type Config struct {
	// Client must be allowed to list and watch the ConfigMap of the settings, and
	// to list, watch, get and update the others. It must not limit the duration
	// of a watch.
	Client    kubernetes.Interface
	Namespace string
	// SettingsName and StateName are names of ConfigMaps. SamplesPrefix is the
	// prefix of the names of the ConfigMaps with samples.
	SettingsName, StateName, SamplesPrefix string
	// ReadOnly keeps all changes in memory only.
	ReadOnly bool
	// Clock is the system clock by default.
	Clock clock.Clock
	// OnReject receives invalid content and what is wrong with it; it must not
	// block. By default, rejections are ignored.
	OnReject func(*corev1.ConfigMap, error)
}

// Provider is the source of measured ratios. All methods are safe for concurrent use.
type Provider struct {
	config     Config
	samples    *samples.Store
	document   *document.Document[measured.Published]
	configured broadcast.Broadcast

	mu sync.Mutex
	// report is nil unless the provider runs.
	report func(ratios.Update)
	told   told
	// settings are the last good settings; nil until they are read.
	settings    *settings.Settings
	settingsErr error
	// published is the state in effect, and layer the resulting layer; nil until
	// the state is read.
	published    measured.Published
	publishedErr error
	layer        *ratios.Layer
	// ended are node types that are no longer published, with the end of the last
	// window in which they were judged.
	ended measured.Ended
}

var _ ratios.Provider = (*Provider)(nil)

// New returns a provider that has read nothing yet.
func New(c Config) *Provider {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.OnReject == nil {
		c.OnReject = func(*corev1.ConfigMap, error) {}
	}
	p := &Provider{config: c, ended: measured.Ended{}}
	p.samples = samples.New(samples.Config{
		Client: c.Client, Namespace: c.Namespace, Prefix: c.SamplesPrefix,
		ReadOnly: c.ReadOnly, Clock: c.Clock, OnReject: c.OnReject,
	})
	p.document = document.New(document.Config[measured.Published]{
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

// Samples returns the store of the measurements.
func (p *Provider) Samples() *samples.Store { return p.samples }

// Missing returns an error if samples or ratios cannot be stored because a ConfigMap does not
// exist, and no other method reports it. Otherwise, and for a read-only provider, it returns
// nil.
func (p *Provider) Missing() error { return errors.Join(p.samples.Missing(), p.document.Missing()) }

// Run implements ratios.Provider. Published ratios stay in effect regardless of the state of
// settings and samples. A ConfigMap of ratios that is missing from the start is empty.
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

// watchSamples reports the source as unhealthy while samples are not known.
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
