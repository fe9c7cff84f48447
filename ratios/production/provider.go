package production

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
)

// Source is the name of this source.
const Source = "production"

// Config configures a Provider. All fields without a default must be set.
type Config struct {
	// Client must be allowed to list, watch, get and patch the ConfigMap. It must not limit the duration of a watch.
	Client          kubernetes.Interface
	Namespace, Name string
	// ReadOnly keeps all changes in memory only.
	ReadOnly bool
	// Clock is the system clock by default.
	Clock clock.Clock
	// OnReject receives invalid content and what is wrong with it; it must not
	// block. By default, rejections are ignored.
	OnReject func(*corev1.ConfigMap, error)
}

// Provider is the source of ratios that production shows. All methods are safe for concurrent use.
type Provider struct {
	document *document.Document[content]
	readOnly bool

	mu sync.Mutex
	// report is nil unless the provider runs, and layer until the ConfigMap is read.
	report  func(ratios.Update)
	content content
	layer   *ratios.Layer
	// stored is the error of the ConfigMap, and unknown the one of the evidence.
	stored, unknown error
	ended           measured.Ended
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
	p := &Provider{readOnly: c.ReadOnly, ended: measured.Ended{}}
	p.document = document.New(document.Config[content]{
		Source:   follow.ConfigMap{Client: c.Client, Namespace: c.Namespace, Name: c.Name},
		Noun:     "ratios from production",
		ReadOnly: c.ReadOnly,
		Clock:    c.Clock,
		Parse:    parse,
		Accept:   p.accept,
		Reject:   p.reject,
		OnReject: c.OnReject,
	})
	return p
}

// Name implements ratios.Provider.
func (p *Provider) Name() string { return Source }

// Missing returns an error if ratios cannot be stored because the ConfigMap does not exist, and no other method reports it.
func (p *Provider) Missing() error { return p.document.Missing() }

// Run implements ratios.Provider. A ConfigMap that is missing from the start is empty.
func (p *Provider) Run(ctx context.Context, report func(ratios.Update)) error {
	p.reportTo(report)
	defer p.reportTo(nil)
	return p.document.Run(ctx)
}

func (p *Provider) reportTo(report func(ratios.Update)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report = report
}

// accept puts the content of the ConfigMap into effect.
func (p *Provider) accept(_ context.Context, now content) document.InForce {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended.Note(p.content.Published, now.Published)
	p.content, p.layer, p.stored = now, now.layer(), nil
	p.tell()
	return document.InForce{Count: len(now.NodeTypes)}
}

// set records an error, or nil; the ratios stay in effect.
func (p *Provider) set(problem *error, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text(*problem) != text(err) {
		*problem = err
		p.tell()
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// tell reports the layer, then the error, which leaves the layer in effect.
func (p *Provider) tell() {
	if p.report == nil {
		return
	}
	if p.layer != nil {
		p.report(ratios.Update{Layer: p.layer})
	}
	if err := errors.Join(p.stored, p.unknown); err != nil {
		u := ratios.Update{Err: err}
		if apierrors.IsForbidden(p.stored) {
			u.Idle = func(c policy.Cluster) bool { return !c.Production.Applies() }
		}
		p.report(u)
	}
}

// reject records why the ConfigMap has no effect. A server that was upgraded without its Role must not read it.
func (p *Provider) reject(_ context.Context, err error) {
	if apierrors.IsForbidden(err) {
		err = fmt.Errorf("%w: apply your manifests or run \"helm upgrade\" again, which gives the server the right, or set production.mode to observe, or leave %s out of --ratio-sources", err, Source)
	}
	p.set(&p.stored, err)
}

// current returns the content in effect, and whether the ConfigMap was read.
func (p *Provider) current() (now content, read bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.content, p.layer != nil
}

// judgedBefore returns the end of the last window in which a node type was judged that is no longer published.
func (p *Provider) judgedBefore(nodeType string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended[nodeType]
}

// change changes the content, unless the function reports that nothing differs. It may be called more than once.
func (p *Provider) change(ctx context.Context, change func(content) (content, bool)) error {
	if p.readOnly {
		now, _ := p.current()
		if next, changed := change(now); changed {
			p.accept(ctx, next)
		}
		return nil
	}
	return p.document.Update(ctx, document.Turn{}, func(now content, _ map[string]string) (map[string]string, error) {
		next, changed := change(now)
		if !changed {
			return nil, nil
		}
		return measured.Format(next)
	})
}
