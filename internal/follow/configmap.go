package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// ErrMissing tells that the ConfigMap does not exist.
var ErrMissing = errors.New("does not exist")

// ConfigMap names the one ConfigMap to follow. The client must be allowed to
// list and watch it, and must not bound the time of a watch.
type ConfigMap struct {
	Client          kubernetes.Interface
	Namespace, Name string
}

// String names the ConfigMap in messages.
func (c ConfigMap) String() string { return fmt.Sprintf("ConfigMap %s/%s", c.Namespace, c.Name) }

// Run reports the state of the ConfigMap, first as soon as it is known and then
// whenever it changes, until ctx is done; then it returns nil. report gets the
// ConfigMap, or the error that it is missing (ErrMissing) or cannot be read.
// Calls come one at a time, must not block, and none comes after Run has
// returned. An error of Run means that it cannot go on.
func (c ConfigMap) Run(ctx context.Context, report func(*corev1.ConfigMap, error)) error {
	r := &reporter{ConfigMap: c, report: report, lost: make(chan struct{}, 1)}
	defer r.end()
	if _, err := r.reach(ctx); err != nil {
		return nil // ctx is done.
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c.Client, 0,
		informers.WithNamespace(c.Namespace), informers.WithTweakListOptions(c.selectOne))
	informer := factory.Core().V1().ConfigMaps().Informer()
	if err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
		r.trouble(fmt.Errorf("read %s: %w", c, err))
	}); err != nil {
		return fmt.Errorf("watch %s: %w", c, err)
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r.read(obj.(*corev1.ConfigMap)) },
		UpdateFunc: func(_, obj any) { r.read(obj.(*corev1.ConfigMap)) },
		DeleteFunc: func(any) { r.missing() },
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", c, err)
	}

	// Not waited for: away from the API server, it ends only after a pause.
	go informer.RunWithContext(ctx)
	if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		r.absentUnlessKnown()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.lost:
			// The watch says nothing of a ConfigMap that was missing all the
			// while, so it is asked for.
			if found, err := r.reach(ctx); err == nil {
				r.found(found)
			}
		}
	}
}

// selectOne selects the one ConfigMap.
func (c ConfigMap) selectOne(o *metav1.ListOptions) {
	o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, c.Name).String()
}

func (c ConfigMap) notFound() error { return fmt.Errorf("%s %w", c, ErrMissing) }

// retryPeriod is how often the ConfigMap is tried to be read the first time, and
// tryTimeout how long one try may take.
const (
	retryPeriod = time.Second
	tryTimeout  = 5 * time.Second
)

// reach tries until the API server lets the ConfigMap be read and watched, and
// reports why it does not: a watch does not tell while it cannot connect. It
// returns the ConfigMap, nil if there is none. The error is that ctx is done.
func (r *reporter) reach(ctx context.Context) (found *corev1.ConfigMap, err error) {
	last := ""
	err = wait.PollUntilContextCancel(ctx, retryPeriod, true, func(ctx context.Context) (bool, error) {
		var err error
		found, err = r.try(ctx)
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			r.unlessKnown(fmt.Errorf("read %s: %w", r, err))
		}
		return err == nil, nil
	})
	return found, err
}

// try lists and watches the ConfigMap once: one right can be there without the
// other.
func (r *reporter) try(ctx context.Context) (*corev1.ConfigMap, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	var options metav1.ListOptions
	r.selectOne(&options)
	api := r.Client.CoreV1().ConfigMaps(r.Namespace)
	list, err := api.List(ctx, options)
	if err != nil {
		return nil, err
	}
	watch, err := api.Watch(ctx, options)
	if err != nil {
		return nil, err
	}
	watch.Stop()
	if len(list.Items) == 0 {
		return nil, nil
	}
	return &list.Items[0], nil
}
