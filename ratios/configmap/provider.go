package configmap

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
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
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0,
		informers.WithNamespace(p.namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, p.name).String()
		}))
	informer := factory.Core().V1().ConfigMaps().Informer()
	r := &reader{Provider: p, report: report}
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

	var missing sync.WaitGroup
	missing.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			r.unlessSeen(p.notFound())
		}
	})
	informer.RunWithContext(ctx)
	missing.Wait()
	return nil
}

// String names the ConfigMap in messages.
func (p *Provider) String() string { return fmt.Sprintf("ConfigMap %s/%s", p.namespace, p.name) }

func (p *Provider) notFound() error { return fmt.Errorf("%s does not exist", p) }

// reader turns the events of the ConfigMap into reports, one at a time.
type reader struct {
	*Provider
	report func(ratios.Update)

	mu sync.Mutex
	// seen tells that the ConfigMap was there once.
	seen bool
	// version is the resource version that was reported last.
	version string
}

func (r *reader) read(cm *corev1.ConfigMap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen && cm.ResourceVersion == r.version {
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
	r.report(ratios.Update{Err: r.notFound()})
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
	r.report(ratios.Update{Err: err})
}

// unlessSeen reports what keeps the ConfigMap from being read the first time.
func (r *reader) unlessSeen(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.seen {
		r.report(ratios.Update{Err: err})
	}
}
