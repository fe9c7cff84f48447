package reconciler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Config is what a Reconciler is made of. All fields must be set.
type Config struct {
	// Client watches pods and nodes.
	Client kubernetes.Interface
	// Writer writes pods; it has to bound the time of each request.
	Writer kubernetes.Interface
	// Ratios is where the table is.
	Ratios *ratios.Store
	// Planner decides. What the API server's version allows is added by Run.
	Planner Planner
	// Events tells people.
	Events *Events
	// Metrics are registered here.
	Metrics prometheus.Registerer
	// Workers is how many pods are worked on at once.
	Workers int
	// DryRun plans and reports, and writes nothing.
	DryRun bool
}

// Reconciler keeps the pods of a cluster as their plans say.
type Reconciler struct {
	Config
	factory  informers.SharedInformerFactory
	pods     listersv1.PodLister
	podIndex cache.Indexer
	nodes    listersv1.NodeLister
	synced   atomic.Bool

	queue    workqueue.TypedDelayingInterface[types.NamespacedName]
	ledger   *ledger
	actuator *actuator
	metrics  *metrics
	clock    clock.Clock
	// unread is why pods and nodes are not read, nil if they are or nothing is
	// known to be wrong.
	unread atomic.Pointer[error]
	// progress is when a worker last began or finished something, in Unix
	// nanoseconds.
	progress atomic.Int64
}

// New returns a reconciler that does nothing until Run.
func New(config Config) (*Reconciler, error) {
	factory, err := newInformers(config.Client)
	if err != nil {
		return nil, err
	}
	m := newMetrics(config.Metrics)
	r := &Reconciler{
		Config:   config,
		factory:  factory,
		pods:     factory.Core().V1().Pods().Lister(),
		podIndex: factory.Core().V1().Pods().Informer().GetIndexer(),
		nodes:    factory.Core().V1().Nodes().Lister(),
		queue:    workqueue.NewTypedDelayingQueue[types.NamespacedName](),
		ledger:   newLedger(m),
		actuator: &actuator{client: config.Writer, clock: clock.RealClock{}, metrics: m},
		metrics:  m,
		clock:    clock.RealClock{},
	}
	return r, nil
}

// Run reconciles until ctx is done, then lets the workers finish the pods they
// are at.
func (r *Reconciler) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	if err := r.watch(); err != nil {
		return err
	}
	if err := r.learnServer(ctx); err != nil {
		return nil // ctx is done.
	}
	// Their end is not waited for: away from the API server, informers end only
	// after a pause.
	r.factory.StartWithContext(ctx)
	if err := r.factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("read pods and nodes: %w", err)
	}
	r.synced.Store(true)
	r.ticked()
	logger.Info("Caches are filled", "pods", len(r.podIndex.ListKeys()))

	var workers sync.WaitGroup
	for range r.Workers {
		workers.Go(func() {
			for r.next(ctx) {
			}
		})
	}
	changes := r.Ratios.Watch()
	revision := ""
	for {
		// The table may have come or changed before the watch began.
		if table := r.Ratios.Table(); table != nil && table.Revision != revision {
			revision = table.Revision
			r.enqueueAll()
		}
		select {
		case <-changes:
		case <-ctx.Done():
			r.queue.ShutDown()
			workers.Wait()
			return nil
		}
	}
}

// watch makes changes of pods and nodes queue the pods concerned.
func (r *Reconciler) watch() error {
	for _, informer := range []cache.SharedIndexInformer{r.factory.Core().V1().Pods().Informer(), r.factory.Core().V1().Nodes().Informer()} {
		if err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
			r.unread.Store(&err)
		}); err != nil {
			return fmt.Errorf("watch pods and nodes: %w", err)
		}
	}
	_, err := r.factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { r.enqueue(obj.(*corev1.Pod)) },
		UpdateFunc: func(old, obj any) {
			if old.(*corev1.Pod).ResourceVersion != obj.(*corev1.Pod).ResourceVersion {
				r.enqueue(obj.(*corev1.Pod))
			}
		},
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				r.enqueue(pod)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	_, err = r.factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { r.enqueueNode(obj.(*corev1.Node).Name) },
		UpdateFunc: func(old, obj any) {
			if !r.sameType(old.(*corev1.Node), obj.(*corev1.Node)) {
				r.enqueueNode(obj.(*corev1.Node).Name)
			}
		},
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if node, ok := obj.(*corev1.Node); ok {
				r.enqueueNode(node.Name)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	return nil
}

// sameType tells whether two states of a node have the same labels that tell
// its type.
func (r *Reconciler) sameType(a, b *corev1.Node) bool {
	for _, label := range r.Planner.NodeTypes.Labels() {
		if a.Labels[label] != b.Labels[label] {
			return false
		}
	}
	return true
}

func (r *Reconciler) enqueue(pod *corev1.Pod) {
	r.queue.Add(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
}

func (r *Reconciler) enqueueNode(node string) {
	pods, err := r.podIndex.ByIndex(byNode, node)
	if err != nil {
		// Only an index that was never added gives an error.
		panic(fmt.Sprintf("reconciler: pods by node: %v", err))
	}
	for _, pod := range pods {
		r.enqueue(pod.(*corev1.Pod))
	}
}

func (r *Reconciler) enqueueAll() {
	for _, pod := range r.podIndex.List() {
		r.enqueue(pod.(*corev1.Pod))
	}
}

func (r *Reconciler) ticked() { r.progress.Store(r.clock.Now().UnixNano()) }

// stuckAfter is how long all workers may be at what they are at, with more in
// the queue, before the loop counts as stuck; no pod takes nearly as long.
const stuckAfter = 5 * time.Minute

// Live returns an error if the loop is stuck: there is work, and nothing of it
// was done for a long time.
func (r *Reconciler) Live() error {
	if !r.synced.Load() || r.queue.Len() == 0 {
		return nil
	}
	if idle := r.clock.Since(time.Unix(0, r.progress.Load())); idle > stuckAfter {
		return fmt.Errorf("%d pods are queued and no worker has got on for %s", r.queue.Len(), idle.Round(time.Second))
	}
	return nil
}

// Ready returns an error that says what is missing while plans cannot be made.
func (r *Reconciler) Ready() error {
	_, noRatios := r.Ratios.Ready()
	noCache := r.cacheReady()
	switch {
	case noRatios != nil:
		return &NotReadyError{RatiosNotReady, errors.Join(noRatios, noCache)}
	case noCache != nil:
		return &NotReadyError{CacheNotReady, noCache}
	}
	return nil
}

func (r *Reconciler) cacheReady() error {
	if r.synced.Load() {
		return nil
	}
	if cause := r.unread.Load(); cause != nil {
		return fmt.Errorf("%w: %w", errCacheNotReady, *cause)
	}
	return errCacheNotReady
}
