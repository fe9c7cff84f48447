package reconciler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/owners"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Holds are the holds in force; package hold has the one that counts.
type Holds interface {
	// Ready returns them, or why they are not known: then nothing is written.
	Ready() (*hold.Table, error)
	// Watch returns a channel that receives after every change.
	Watch() <-chan struct{}
	// Prune drops the holds of single pods that do not exist.
	Prune(ctx context.Context, exists func(hold.Scope) bool) error
}

// Leader tells whether this process is the one of several replicas that writes.
type Leader interface {
	// Leading tells whether it is now.
	Leading() bool
	// Watch returns a channel that receives after that has changed.
	Watch() <-chan struct{}
}

// Config is what a Reconciler is made of. All fields must be set, where no other
// default is named.
type Config struct {
	// Client watches the cluster.
	Client kubernetes.Interface
	// Dynamic watches what may not exist in the cluster.
	Dynamic dynamic.Interface
	// WorkloadKinds are followed from the controllers of pods upwards, and Metadata
	// watches them; with none, it may be nil, and only what names tell is known.
	WorkloadKinds []schema.GroupResource
	Metadata      metadata.Interface
	// Writer writes pods; it has the configuration of actuate.ClientConfig.
	Writer kubernetes.Interface
	// Asker asks the API server for previews; it has that configuration too.
	Asker kubernetes.Interface
	// QPS is how many requests per second Writer makes on average, and as many
	// Asker; 0 is no limit. Burst is how many each makes in one go.
	QPS   float32
	Burst int
	// Leader tells whether this process writes; nil if there is no other.
	Leader Leader
	// Ratios is where the table is.
	Ratios *ratios.Store
	// Holds are the pods to be restored or let be.
	Holds Holds
	// Planner decides. What the API server's version allows is added by Run.
	Planner plan.Planner
	// Events tells people.
	Events *Events
	// Traces tells of each pod that is written to or spoken of; nil traces
	// nothing.
	Traces trace.TracerProvider
	// Metrics are registered here.
	Metrics prometheus.Registerer
	// Workers is how many pods are worked on at once.
	Workers int
	// RealignRate is how many pods that have been sized before are sized anew
	// per second; 0 is no limit.
	RealignRate float64
	// DryRun plans and reports, and writes nothing; default false.
	DryRun bool
}

// Reconciler keeps the pods of a cluster as their plans say.
type Reconciler struct {
	Config
	factory     informers.SharedInformerFactory
	pods        podLister
	podIndex    cache.Indexer
	nodes       listersv1.NodeLister
	limitRanges listersv1.LimitRangeLister
	quotas      listersv1.ResourceQuotaLister
	autoscalers autoscalinglisters.HorizontalPodAutoscalerLister
	vpas        *vpas
	answers     *answers
	owners      *owners.Owners
	// retell tells those who watch resizes of a pod above which more may be known.
	retell []func(types.NamespacedName)
	usage  *usage
	// filled is closed once all pods were read.
	filled chan struct{}

	queue workqueue.TypedDelayingInterface[types.NamespacedName]
	// line is what the queue is made of.
	line     *waitingLine
	pacer    *pacer
	ledger   *ledger
	actuator *actuate.Actuator
	asker    *actuate.Actuator
	metrics  *metrics
	writes   *actuate.Metrics
	clock    clock.Clock
	// changes counts what pods that are left alone may wait for.
	changes atomic.Int64
	// unread is why the cluster is not read, nil if it is or nothing is known
	// to be wrong.
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
	r := &Reconciler{
		Config:      config,
		factory:     factory,
		pods:        podLister{factory.Core().V1().Pods().Informer().GetIndexer()},
		podIndex:    factory.Core().V1().Pods().Informer().GetIndexer(),
		nodes:       factory.Core().V1().Nodes().Lister(),
		limitRanges: factory.Core().V1().LimitRanges().Lister(),
		quotas:      factory.Core().V1().ResourceQuotas().Lister(),
		autoscalers: factory.Autoscaling().V2().HorizontalPodAutoscalers().Lister(),
		usage:       newUsage(),
		answers:     newAnswers(),
		filled:      make(chan struct{}),
		pacer:       newPacer(config.RealignRate, config.Workers, clock.RealClock{}),
		clock:       clock.RealClock{},
	}
	r.metrics = newMetrics(config.Metrics)
	r.queue, r.line = newQueue(func() time.Time { return r.clock.Now() }, r.metrics.waiting)
	r.ledger = newLedger(r.metrics)
	r.exposeState(config.Metrics)
	r.writes = actuate.NewMetrics(config.Metrics)
	r.actuator = actuate.New(actuate.Config{Client: config.Writer, Limiter: actuate.NewLimiter(config.QPS, config.Burst), Permit: r.permit, Clock: r.clock, Metrics: r.writes})
	r.asker = actuate.New(actuate.Config{Client: config.Asker, Limiter: actuate.NewLimiter(config.QPS, config.Burst), Permit: actuate.Always, Clock: r.clock, Metrics: r.writes})
	r.owners = owners.New(owners.Config{
		Resources: config.WorkloadKinds, Client: config.Metadata, Discovery: config.Client.Discovery(), Changed: r.ownerChanged,
	})
	config.Metrics.MustRegister(r.owners)
	if r.vpas, err = newVPAs(config.Dynamic, r.enqueueNamespace); err != nil {
		return nil, err
	}
	return r, nil
}

// lastWrites is how long workers may go on with the pods that they are at once Run is
// to end. Mostly that leaves none half done. The rest is for the next leader, who is not
// to be kept waiting.
const lastWrites = 500 * time.Millisecond

// Run reconciles until ctx is done, then lets the workers go on with the pods that
// they are at for lastWrites, and ends when the writes that have begun have.
func (r *Reconciler) Run(ctx context.Context) error {
	ending, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	r.actuator.EndWith(ending)
	if err := r.watch(); err != nil {
		return err
	}
	if err := r.learnServer(ctx); err != nil {
		return nil // ctx is done.
	}
	if err := r.readCluster(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("read the cluster: %w", err)
	}
	for _, k := range r.pods.Pods(metav1.NamespaceAll).List() {
		// Before any pod is planned: what one of them found out is for all of its node.
		r.answers.hear(k, r.node(k))
	}
	close(r.filled)
	r.ticked()
	klog.FromContext(ctx).Info("Caches are filled", "pods", len(r.podIndex.ListKeys()))

	ratiosChanged, holdsChanged, leaderChanged := r.Ratios.Watch(), r.Holds.Watch(), r.watchLeader()
	var running sync.WaitGroup
	for range r.Workers {
		running.Go(func() {
			for r.next(ctx) {
			}
		})
	}
	running.Go(func() { r.pacer.run(ctx, r.queue.Add) })
	running.Go(func() { r.pruneHolds(ctx) })
	var before rules
	for {
		// They may have come or changed before the watches began.
		if now, known := r.rules(); known && now != before {
			r.enqueueAffected(before, now)
			before = now
		}
		select {
		case <-ratiosChanged:
		case <-holdsChanged:
		case <-leaderChanged:
			r.leaderChanged()
		case <-ctx.Done():
			defer time.AfterFunc(lastWrites, end).Stop()
			r.queue.ShutDown()
			running.Wait()
			return nil
		}
	}
}

// readCluster fills the caches. Their end is not waited for: away from the API
// server, informers end only after a pause.
func (r *Reconciler) readCluster(ctx context.Context) error {
	// First what is above pods, so that it is known when these come.
	go r.owners.Run(ctx)
	if err := r.owners.Wait(ctx); err != nil {
		return err
	}
	r.factory.StartWithContext(ctx)
	go r.vpas.informer.RunWithContext(ctx)
	if err := r.factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		return err
	}
	return r.vpas.wait(ctx)
}

// pruneEvery is how often the holds of pods that are gone are dropped.
const pruneEvery = 10 * time.Minute

func (r *Reconciler) pruneHolds(ctx context.Context) {
	if r.DryRun {
		return
	}
	for {
		select {
		case <-r.clock.After(pruneEvery):
		case <-ctx.Done():
			return
		}
		if !r.Leads() {
			continue
		}
		if err := r.Holds.Prune(ctx, r.exists); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Holds of pods that are gone are not dropped yet")
		}
	}
}

// exists tells whether the pod of a hold is there.
func (r *Reconciler) exists(scope hold.Scope) bool {
	found := r.pods.Pods(scope.Namespace).Get(scope.Pod)
	return found != nil && found.UID == scope.UID
}

func (r *Reconciler) ticked() { r.progress.Store(r.clock.Now().UnixNano()) }

// stuckAfter is how long all workers may be at what they are at, with more in
// the queue, before the loop counts as stuck; no pod takes nearly as long.
const stuckAfter = 5 * time.Minute

// Live returns an error if the loop is stuck: there is work, and nothing of it
// was done for a long time.
func (r *Reconciler) Live() error {
	if !r.isFilled() || r.queue.Len() == 0 {
		return nil
	}
	if idle := r.clock.Since(time.Unix(0, r.progress.Load())); idle > stuckAfter {
		return fmt.Errorf("%d pods are queued and no worker has got on for %s", r.queue.Len(), idle.Round(time.Second))
	}
	return nil
}

// Filled returns a channel that is closed once all pods were read: the reconciler can
// work from then on, given ratios.
func (r *Reconciler) Filled() <-chan struct{} { return r.filled }

func (r *Reconciler) isFilled() bool {
	select {
	case <-r.filled:
		return true
	default:
		return false
	}
}

// Ready returns an error that says what is missing while plans cannot be made.
func (r *Reconciler) Ready() error {
	_, noRatios := r.Ratios.Ready()
	_, noHolds := r.Holds.Ready()
	noCache := errors.Join(r.cacheReady(), noHolds)
	switch {
	case noRatios != nil:
		return &NotReadyError{RatiosNotReady, errors.Join(noRatios, noCache)}
	case noCache != nil:
		return &NotReadyError{CacheNotReady, noCache}
	}
	return nil
}

func (r *Reconciler) cacheReady() error {
	if r.isFilled() {
		return nil
	}
	for _, cause := range [...]*error{r.unread.Load(), r.vpas.err.Load()} {
		if cause != nil {
			return fmt.Errorf("%w: %w", errCacheNotReady, *cause)
		}
	}
	return errCacheNotReady
}
