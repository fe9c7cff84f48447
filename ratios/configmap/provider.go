package configmap

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
)

// Source is the name of this source.
const Source = "configmap"

// Key is the key of the ConfigMap that holds the configuration.
const Key = "config.yaml"

// Provider reads the ratios from one ConfigMap.
type Provider struct {
	client          kubernetes.Interface
	namespace, name string
	onReject        func(*corev1.ConfigMap, error)
}

var _ ratios.Provider = (*Provider)(nil)

// New returns a provider for one ConfigMap. The client must be allowed to list
// and watch it. onReject, which may be nil, is told of content that was
// rejected; it must not block.
func New(client kubernetes.Interface, namespace, name string, onReject func(*corev1.ConfigMap, error)) *Provider {
	if onReject == nil {
		onReject = func(*corev1.ConfigMap, error) {}
	}
	return &Provider{client, namespace, name, onReject}
}

// Name implements ratios.Provider.
func (p *Provider) Name() string { return Source }

// Run implements ratios.Provider.
func (p *Provider) Run(ctx context.Context, report func(ratios.Update)) error {
	r := &reader{Provider: p, report: report}
	defer r.end()
	if err := r.reach(ctx); err != nil {
		return nil // ctx is done.
	}
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0,
		informers.WithNamespace(p.namespace), informers.WithTweakListOptions(p.selectOne))
	informer := factory.Core().V1().ConfigMaps().Informer()
	if err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
		r.trouble(fmt.Errorf("read %s: %w", p, err))
	}); err != nil {
		return fmt.Errorf("watch %s: %w", p, err)
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r.read(obj.(*corev1.ConfigMap)) },
		UpdateFunc: func(_, obj any) { r.read(obj.(*corev1.ConfigMap)) },
		DeleteFunc: func(any) { r.gone() },
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", p, err)
	}

	// Not waited for: away from the API server, it ends only after a pause.
	go informer.RunWithContext(ctx)
	if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		r.unlessSeen(p.notFound())
	}
	<-ctx.Done()
	return nil
}

// selectOne selects the one ConfigMap.
func (p *Provider) selectOne(o *metav1.ListOptions) {
	o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, p.name).String()
}

// retryPeriod is how often the ConfigMap is tried to be read the first time, and
// tryTimeout how long one try may take.
const (
	retryPeriod = time.Second
	tryTimeout  = 5 * time.Second
)

// reach tries until the API server lets the ConfigMap be read, and reports why
// it does not: a watch does not tell while it cannot connect. The error is that
// ctx is done.
func (r *reader) reach(ctx context.Context) error {
	var options metav1.ListOptions
	r.selectOne(&options)
	last := ""
	return wait.PollUntilContextCancel(ctx, retryPeriod, true, func(ctx context.Context) (bool, error) {
		try, cancel := context.WithTimeout(ctx, tryTimeout)
		defer cancel()
		_, err := r.client.CoreV1().ConfigMaps(r.namespace).List(try, options)
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			r.unlessSeen(fmt.Errorf("read %s: %w", r.Provider, err))
		}
		return err == nil, nil
	})
}

// String names the ConfigMap in messages.
func (p *Provider) String() string { return fmt.Sprintf("ConfigMap %s/%s", p.namespace, p.name) }

func (p *Provider) notFound() error { return fmt.Errorf("%s does not exist", p) }

// reader turns the events of the ConfigMap into reports, one at a time.
type reader struct {
	*Provider

	mu sync.Mutex
	// report is nil after the end.
	report func(ratios.Update)
	// seen tells that the ConfigMap was there once.
	seen bool
	// version is the resource version that was reported last.
	version string
}

func (r *reader) read(cm *corev1.ConfigMap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report == nil || r.seen && cm.ResourceVersion == r.version {
		return // A new list shows what is known already.
	}
	r.seen, r.version = true, cm.ResourceVersion
	layer, err := r.parse(cm)
	if err != nil {
		r.onReject(cm, err)
		r.report(ratios.Update{Err: fmt.Errorf("%s: %w", r.Provider, err)})
		return
	}
	r.report(ratios.Update{Layer: layer})
}

func (r *reader) parse(cm *corev1.ConfigMap) (*ratios.Layer, error) {
	text, ok := cm.Data[Key]
	if !ok {
		return nil, fmt.Errorf("there is no key %q", Key)
	}
	return config.Parse([]byte(text), provenance(cm))
}

func (r *reader) gone() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = ""
	r.reject(r.notFound())
}

// trouble reports that the ConfigMap could not be read. Once it was read,
// trouble with the connection says nothing about its content and passes; only
// that it may not be read any more lasts.
func (r *reader) trouble(err error) {
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		r.unlessSeen(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = "" // The next list reports the content anew.
	r.reject(err)
}

// unlessSeen reports what keeps the ConfigMap from being read the first time.
func (r *reader) unlessSeen(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.seen {
		r.reject(err)
	}
}

func (r *reader) reject(err error) {
	if r.report != nil {
		r.report(ratios.Update{Err: err})
	}
}

// end makes sure that nothing is reported any more.
func (r *reader) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = nil
}
