package mover

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/creation"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Holds provides the holds in effect.
type Holds interface {
	// Ready returns the holds, or why they are unknown.
	Ready() (*hold.Table, error)
	// Watch returns a channel that receives after every change.
	Watch() <-chan struct{}
}

// Leader reports whether this process is the replica that writes.
type Leader interface {
	Leading() bool
	// Watch returns a channel that receives after Leading has changed.
	Watch() <-chan struct{}
}

// Headroom is what nodes lack although their pods need it.
type Headroom interface {
	// Known reports whether the other methods know the nodes.
	Known() bool
	// Lacks returns what a node has too little for its pods, zero if it has enough, and whether they use more memory now than it
	// has.
	Lacks(name string) (lacks node.Resources, inUse bool)
	// Rest returns how much more a pod may need, or uses, than it needs most of the time, in any unit: of the resources that are
	// lacking, or of all if none is. If inUse, only what it uses counts.
	Rest(of *pod.Pod, lacks node.Resources, inUse bool) int64
}

// Loop is what the loop that writes pods knows and decides; package loop implements it.
type Loop interface {
	// Knows reports whether a pod has been planned.
	Knows(of *pod.Pod) bool
	// PermitEviction returns an error unless a pod may be evicted now.
	PermitEviction(ctx context.Context, of *pod.Pod) error
	// CountEviction takes note of what came of an eviction.
	CountEviction(group workload.Group, evicted workload.Eviction)
}

// Config configures a Mover. All fields must be set unless their comment names a default.
type Config struct {
	Cluster *cluster.Cluster
	Planner *plan.Planner
	Holds   Holds
	Loop    Loop
	// Client reads pods and what they depend on.
	Client kubernetes.Interface
	// Evict evicts a pod in exactly this state, if permit returns no error right before that.
	Evict func(ctx context.Context, object *corev1.Pod, permit func(context.Context) error) error
	// Watcher follows and writes the ConfigMap that stores the decisions, with this namespace and name.
	Watcher         kubernetes.Interface
	Namespace, Name string
	// Sizer sizes pods while they are created; nil if the server sizes none then.
	Sizer *creation.Sizer
	// Leader reports whether this process writes; nil if it is the only one.
	Leader Leader
	// Headroom is what nodes lack; nil if nobody knows.
	Headroom Headroom
	// Tell records an event on a pod.
	Tell func(name types.NamespacedName, uid types.UID, said plan.Reason)
	// OnReject receives invalid content of the ConfigMap, and what is wrong with it. It must not block.
	OnReject func(*corev1.ConfigMap, error)
	// DryRun decides and shows what would be done, and does nothing; default false.
	DryRun bool
	Clock  clock.WithTicker
}

// Mover moves pods. All methods are safe for concurrent use. The methods of a nil Mover do nothing.
type Mover struct {
	Config
	store   keeper
	metrics *metrics
	wake    chan struct{}
	// doubtful means that causes may have come and gone since the book was last reviewed: another process may have led, or this
	// one could not review it. Only Run uses it.
	doubtful bool
	// leaving is what this process knows of the evictions in the book, by the pod. Only Run uses it.
	leaving map[types.UID]leaving
	// views are the nodes as of the last look, if that judged pods. Only Run uses them.
	views map[string]*view

	mu sync.Mutex
	// lacking has the pods whose nodes have no room for what they need.
	lacking map[types.NamespacedName]*trouble
	// held are the causes that held at any time since the last look.
	held map[evict.Cause]struct{}
	// short has the nodes that lack room for what their pods need, and what they lack; changed has those of which that may have
	// changed.
	short   map[string]shortage
	changed map[string]struct{}
	// retries has the pods that could not move, or that have.
	retries map[types.UID]*retry
	// most is how many pods might be evicted within an hour as of the last look.
	most int
	// problem is why nothing can be evicted, nil if something may be, and failed what has failed last.
	problem error
	failed  map[place]failure
}

// New returns a mover that does nothing until Run.
func New(config Config) *Mover {
	m := &Mover{
		Config: config, metrics: newMetrics(), wake: make(chan struct{}, 1), doubtful: true,
		lacking: map[types.NamespacedName]*trouble{}, held: map[evict.Cause]struct{}{}, short: map[string]shortage{}, changed: map[string]struct{}{}, retries: map[types.UID]*retry{},
		leaving: map[types.UID]leaving{}, failed: map[place]failure{},
	}
	m.store = newStore(m)
	return m
}

const (
	// leastPause is the time between two looks at the pods that may move. A look at the whole cluster takes a fraction of a
	// second; share is how many times as long the mover then waits, up to mostPause, so that it never takes a processor.
	leastPause, mostPause = time.Second, 5 * time.Second
	share                 = 25
	// unknownPause is how long it waits for what is not known yet.
	unknownPause = 5 * time.Second
)

// Run moves pods until ctx is done.
func (m *Mover) Run(ctx context.Context) {
	var leaderChanged <-chan struct{}
	if m.Leader != nil {
		leaderChanged = m.Leader.Watch()
	}
	holdsChanged, ratiosChanged := m.Holds.Watch(), m.Cluster.Ratios.Watch()
	following := make(chan struct{})
	go func() {
		defer close(following)
		m.store.run(ctx)
	}()
	defer func() { <-following }()
	for {
		began := m.Clock.Now()
		next := m.look(ctx)
		took := m.Clock.Since(began)
		select {
		case <-m.Clock.After(min(max(leastPause, share*took), mostPause)):
		case <-ctx.Done():
			return
		}
		var due <-chan time.Time
		if !next.IsZero() {
			due = m.Clock.After(next.Sub(m.Clock.Now()))
		}
		select {
		case <-due:
		case <-m.wake:
		case <-leaderChanged:
			m.doubtful = true
		case <-holdsChanged:
		case <-ratiosChanged:
		case <-ctx.Done():
			return
		}
	}
}

// leads reports whether this process writes.
func (m *Mover) leads() bool { return m.Leader == nil || m.Leader.Leading() }

// lookSoon lets Run look at the pods again. It never blocks.
func (m *Mover) lookSoon() {
	select {
	case m.wake <- struct{}{}:
	default: // It has not begun the last look yet.
	}
}
