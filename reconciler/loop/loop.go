package loop

import (
	"context"
	"fmt"
	"slices"
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
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Holds provides the holds in effect; package hold has the implementation.
type Holds interface {
	// Ready returns the holds, or why they are unknown. While they are unknown, nothing
	// is written.
	Ready() (*hold.Table, error)
	// FrozenNow reports whether the cluster is frozen, as the API server says now.
	FrozenNow(ctx context.Context) (bool, error)
	// Watch returns a channel that receives after every change.
	Watch() <-chan struct{}
	// Open opens the breaker of a scope, for a reason that became known at a time. It reports
	// false if the breaker is open already, or was reset since.
	Open(ctx context.Context, scope hold.Scope, reason string, known time.Time) (opened bool, err error)
	// Prune drops the holds of single pods that do not exist, and old breakers of scopes without pods.
	Prune(ctx context.Context, exists func(hold.Scope) bool) error
}

// Leader reports whether this process is the replica that writes.
type Leader interface {
	// Leading reports whether this process leads now.
	Leading() bool
	// Watch returns a channel that receives after Leading has changed.
	Watch() <-chan struct{}
}

// Config configures a Loop. All fields must be set unless their comment names a default.
type Config struct {
	// Cluster provides the pods; the loop receives its changes.
	Cluster *cluster.Cluster
	// Planner decides.
	Planner *plan.Planner
	// Writer writes pods if the loop permits it: the loop sets its Permit.
	Writer *actuate.Actuator
	// Leader reports whether this process writes; nil if it is the only one.
	Leader Leader
	// Ratios provides the table of ratios.
	Ratios *ratios.Store
	// Holds provides the restores and pauses.
	Holds Holds
	// Events records events on pods.
	Events *Events
	// Traces receives a trace of each pod that the loop writes or reports on; nil
	// disables tracing.
	Traces trace.TracerProvider
	// Metrics is where all metrics are registered.
	Metrics prometheus.Registerer
	// Workers is the number of pods that are processed concurrently.
	Workers int
	// ResizesPerSecond is how many pods that can wait are resized per second, unless the ratios
	// set it; 0 means no limit.
	ResizesPerSecond float64
	// Planned receives the plan of each pod, nil if the pod is gone; nil if nobody needs them. It must not block.
	Planned func(name types.NamespacedName, of *pod.Pod, p *plan.Plan)
	// BudgetEased receives a namespace in which a PodDisruptionBudget may permit more than before; nil if nobody needs it. It
	// must not block.
	BudgetEased func(namespace string)
	// Wrote receives each plan that was executed, and what was said about it for the first time; nil if nobody needs
	// them. It must not block.
	Wrote func(p *plan.Plan, said []plan.Reason)
	// DryRun plans and reports, and writes nothing; default false.
	DryRun bool
	// Clock provides the time.
	Clock clock.WithTicker
}

// Loop keeps the pods in a cluster at their planned sizes.
type Loop struct {
	Config
	queue workqueue.TypedDelayingInterface[types.NamespacedName]
	// line has the pods in the queue.
	line   *waitingLine
	pacer  *pacer
	ledger *ledger
	// places limits how many pods of a group get a smaller size at the same time.
	places *workload.Places
	// brake delays all writes while the API server is too busy.
	brake   brake
	metrics *metrics
	// breakers has what came of resizes.
	breakers *breakers
	// changes counts the changes that skipped pods may wait for.
	changes atomic.Int64
	// progress is when a worker last started or finished a pod, in Unix nanoseconds.
	progress atomic.Int64
}

// New returns a loop that does nothing until Run.
func New(config Config) *Loop {
	l := &Loop{Config: config, metrics: newMetrics(config.Metrics), breakers: newBreakers()}
	l.pacer = newPacer(l.pace, l.allocatable, config.Workers, config.Clock)
	l.queue, l.line = newQueue(l.Clock, l.metrics.waiting)
	l.ledger, l.places = newLedger(l.metrics), workload.NewPlaces()
	l.exposeState(config.Metrics)
	l.Writer.Permit = l.permit
	l.Cluster.Serve(l, l.ledger.refused)
	l.Cluster.Heed(l.lastFailure)
	return l
}

// lastWrites is how long workers may continue with their current pods after ctx is done.
// That is usually long enough to finish them. The next leader, which should not have to
// wait, does the rest.
const lastWrites = 500 * time.Millisecond

// Run processes the pods in the cluster, which must have been read, until ctx is done. Then
// workers may continue with their current pods for lastWrites, and Run returns when the writes
// in progress have ended.
func (l *Loop) Run(ctx context.Context) {
	ending, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	l.Writer.EndWith(ending)
	l.ticked()
	ratiosChanged, holdsChanged, leaderChanged := l.Ratios.Watch(), l.Holds.Watch(), l.watchLeader()
	if l.Leads() {
		l.pacer.recall(l.recall())
	}
	rates := l.followPace(ctx, pace{})
	var running sync.WaitGroup
	for range l.Workers {
		running.Go(func() {
			for l.next(ctx) {
			}
		})
	}
	running.Go(func() { l.pacer.run(ctx, l.queue.Add) })
	running.Go(func() { l.pruneHolds(ctx) })
	running.Go(func() { l.openBreakers(ctx) })
	var before cluster.Rules
	for {
		// The rules may have changed before the watches began.
		if now, known := l.Cluster.Rules(); known && now != before {
			l.enqueueAffected(before, now)
			before = now
		}
		select {
		case <-ratiosChanged:
			rates = l.followPace(ctx, rates)
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

// pruneEvery is how often the holds of deleted pods are dropped.
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
			klog.FromContext(ctx).Error(err, "Holds of deleted pods not removed; retrying later")
		}
	}
}

// exists reports whether the pod of a hold exists, or at least one of its workload or namespace, as far as is known.
func (l *Loop) exists(scope hold.Scope) bool {
	pods := l.Cluster.Pods(scope.Namespace)
	if scope.Pod != "" {
		found := pods.Get(scope.Pod)
		return found != nil && found.UID == scope.UID
	}
	if scope.Workload == (workload.Workload{}) {
		return len(pods.List()) > 0
	}
	if l.Cluster.Owners().Problem() != nil {
		return true // The pods may have more owners.
	}
	workloads := make([]workload.Workload, 0, 4) // Few pods have more than 4.
	return slices.ContainsFunc(pods.List(), func(of *pod.Pod) bool {
		workloads = l.Cluster.Owners().Chain(workloads[:0], of)
		return slices.Contains(workloads, scope.Workload)
	})
}

func (l *Loop) ticked() { l.progress.Store(l.Clock.Now().UnixNano()) }

// stuckAfter is how long no worker may start or finish a pod while pods are queued before
// the loop counts as stuck. No pod takes nearly as long.
const stuckAfter = 5 * time.Minute

// Live returns an error if the loop is stuck: pods are queued, and no worker has made
// progress for a long time.
func (l *Loop) Live() error {
	if !l.Cluster.IsFilled() || l.queue.Len() == 0 {
		return nil
	}
	if idle := l.Clock.Since(time.Unix(0, l.progress.Load())); idle > stuckAfter {
		return fmt.Errorf("%d pods are queued and no worker has made progress for %s", l.queue.Len(), idle.Round(time.Second))
	}
	return nil
}
