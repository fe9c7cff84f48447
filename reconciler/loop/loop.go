package loop

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Holds are the holds in force; package hold has the ones that count.
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

// Config is what a Loop is made of. All fields must be set, where no other default is
// named.
type Config struct {
	// Cluster is where the pods are; the loop serves it.
	Cluster *cluster.Cluster
	// Planner decides.
	Planner *plan.Planner
	// Writer writes pods, once Permit of the loop says so: the loop sets that.
	Writer *actuate.Actuator
	// Leader tells whether this process writes; nil if there is no other.
	Leader Leader
	// Ratios is where the table is.
	Ratios *ratios.Store
	// Holds are the pods to be restored or let be.
	Holds Holds
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
	// Clock tells the time.
	Clock clock.Clock
}

// Loop keeps the pods of a cluster as their plans say.
type Loop struct {
	Config
	queue workqueue.TypedDelayingInterface[types.NamespacedName]
	// line is what the queue is made of.
	line    *waitingLine
	pacer   *pacer
	ledger  *ledger
	metrics *metrics
	// changes counts what pods that are left alone may wait for.
	changes atomic.Int64
	// progress is when a worker last began or finished something, in Unix
	// nanoseconds.
	progress atomic.Int64
}

// New returns a loop that does nothing until Run.
func New(config Config) *Loop {
	l := &Loop{Config: config, metrics: newMetrics(config.Metrics), pacer: newPacer(config.RealignRate, config.Workers, config.Clock)}
	l.queue, l.line = newQueue(func() time.Time { return l.Clock.Now() }, l.metrics.waiting)
	l.ledger = newLedger(l.metrics)
	l.exposeState(config.Metrics)
	l.Writer.Permit = l.permit
	l.Cluster.Serve(l, l.ledger.refused)
	return l
}

// lastWrites is how long workers may go on with the pods that they are at once Run is
// to end. Mostly that leaves none half done. The rest is for the next leader, who is not
// to be kept waiting.
const lastWrites = 500 * time.Millisecond

// Run works on the pods of the cluster, which has been read, until ctx is done. It then lets
// the workers go on with the pods that they are at for lastWrites, and ends when the writes
// that have begun have.
func (l *Loop) Run(ctx context.Context) {
	ending, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	l.Writer.EndWith(ending)
	l.ticked()
	ratiosChanged, holdsChanged, leaderChanged := l.Ratios.Watch(), l.Holds.Watch(), l.watchLeader()
	var running sync.WaitGroup
	for range l.Workers {
		running.Go(func() {
			for l.next(ctx) {
			}
		})
	}
	running.Go(func() { l.pacer.run(ctx, l.queue.Add) })
	running.Go(func() { l.pruneHolds(ctx) })
	var before cluster.Rules
	for {
		// They may have come or changed before the watches began.
		if now, known := l.Cluster.Rules(); known && now != before {
			l.enqueueAffected(before, now)
			before = now
		}
		select {
		case <-ratiosChanged:
		case <-holdsChanged:
		case <-leaderChanged:
			l.leaderChanged()
		case <-ctx.Done():
			defer time.AfterFunc(lastWrites, end).Stop()
			l.queue.ShutDown()
			running.Wait()
			return
		}
	}
}

// pruneEvery is how often the holds of pods that are gone are dropped.
const pruneEvery = 10 * time.Minute

func (l *Loop) pruneHolds(ctx context.Context) {
	if l.DryRun {
		return
	}
	for {
		select {
		case <-l.Clock.After(pruneEvery):
		case <-ctx.Done():
			return
		}
		if !l.Leads() {
			continue
		}
		if err := l.Holds.Prune(ctx, l.exists); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Holds of pods that are gone are not dropped yet")
		}
	}
}

// exists tells whether the pod of a hold is there.
func (l *Loop) exists(scope hold.Scope) bool {
	found := l.Cluster.Pods(scope.Namespace).Get(scope.Pod)
	return found != nil && found.UID == scope.UID
}

func (l *Loop) ticked() { l.progress.Store(l.Clock.Now().UnixNano()) }

// stuckAfter is how long all workers may be at what they are at, with more in
// the queue, before the loop counts as stuck; no pod takes nearly as long.
const stuckAfter = 5 * time.Minute

// Live returns an error if the loop is stuck: there is work, and nothing of it
// was done for a long time.
func (l *Loop) Live() error {
	if !l.Cluster.IsFilled() || l.queue.Len() == 0 {
		return nil
	}
	if idle := l.Clock.Since(time.Unix(0, l.progress.Load())); idle > stuckAfter {
		return fmt.Errorf("%d pods are queued and no worker has got on for %s", l.queue.Len(), idle.Round(time.Second))
	}
	return nil
}
