package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// ErrMissing means that the object does not exist.
var ErrMissing = errors.New("does not exist")

// object is a pointer to an API object; nil if there is none.
type object interface {
	comparable
	GetResourceVersion() string
}

// source is the one object to follow.
type source[T object] struct {
	// called is the name of the object in messages.
	called          string
	client          kubernetes.Interface
	namespace, name string
	// list returns the object that the options select; nil if there is none.
	list     func(context.Context, metav1.ListOptions) (T, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
	informer func(informers.SharedInformerFactory) cache.SharedIndexInformer
}

// run implements Run for ConfigMap and Secret.
func (s source[T]) run(ctx context.Context, report func(T, error)) error {
	r := &reporter[T]{source: s, report: report, lost: make(chan struct{}, 1)}
	defer r.end()
	if _, err := r.reach(ctx); err != nil {
		return nil // ctx is done.
	}
	factory := informers.NewSharedInformerFactoryWithOptions(s.client, 0,
		informers.WithNamespace(s.namespace), informers.WithTweakListOptions(s.selectOne))
	informer := s.informer(factory)
	if err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
		r.trouble(fmt.Errorf("read %s: %w", s.called, err))
	}); err != nil {
		return fmt.Errorf("watch %s: %w", s.called, err)
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r.read(obj.(T)) },
		UpdateFunc: func(_, obj any) { r.read(obj.(T)) },
		DeleteFunc: func(any) { r.missing() },
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", s.called, err)
	}

	// Not waited for: without a connection to the API server, it ends with a delay.
	go informer.RunWithContext(ctx)
	if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		r.absentUnlessKnown()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.lost:
			// The watch reports nothing for an object that was missing all
			// the time, so list it.
			if found, err := r.reach(ctx); err == nil {
				r.found(found)
			}
		}
	}
}

// selectOne selects the one object.
func (s source[T]) selectOne(o *metav1.ListOptions) {
	o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, s.name).String()
}

func (s source[T]) notFound() error { return fmt.Errorf("%s %w", s.called, ErrMissing) }

// retryPeriod is the time between attempts to read the object the first time, and
// tryTimeout is how long one attempt may take.
const (
	retryPeriod = time.Second
	tryTimeout  = 5 * time.Second
)

// reach retries until the API server allows the object to be listed and watched, and
// reports why it does not: a watch reports nothing while it cannot connect. It
// returns the object; nil if there is none. It fails only when ctx is done.
func (r *reporter[T]) reach(ctx context.Context) (found T, err error) {
	last := ""
	err = wait.PollUntilContextCancel(ctx, retryPeriod, true, func(ctx context.Context) (bool, error) {
		var err error
		found, err = r.try(ctx)
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			r.unlessKnown(fmt.Errorf("read %s: %w", r.called, err))
		}
		return err == nil, nil
	})
	return found, err
}

// try lists and watches the object once: either permission can be granted without the
// other.
func (r *reporter[T]) try(ctx context.Context) (found T, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	var options metav1.ListOptions
	r.selectOne(&options)
	found, err = r.list(ctx, options)
	if err != nil {
		return found, err
	}
	watch, err := r.watch(ctx, options)
	if err != nil {
		return found, err
	}
	watch.Stop()
	return found, nil
}
