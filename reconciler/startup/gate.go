package startup

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
)

const (
	// Patience is how long a ready node keeps pods out. The write and its retries have two
	// seconds, so that the taint is gone 30 seconds after the node is ready.
	Patience = 28 * time.Second
	// grace is how much longer replicas wait that do not lead. They do not wait for an
	// election: a failed leader would keep pods out for its Lease, too.
	grace = 3 * time.Second
)

const (
	firstRetry, lastRetry = 100 * time.Millisecond, 2 * time.Second
	// workers is the number of concurrent writes.
	workers = 8
)

// Config configures a Gate. All fields must be set.
type Config struct {
	// Nodes writes nodes.
	Nodes corev1client.NodeInterface
	// Node returns a node, nil if there is none. It needs to have only its name, its UID, its
	// creation time and, while it has the startup taint, its taints and the condition Ready.
	Node func(name string) *corev1.Node
	// Leads reports whether this replica leads.
	Leads func() bool
	// Clock provides the time.
	Clock clock.WithTicker
}

// Gate removes startup taints. All methods are safe for concurrent use. A nil Gate is one of a
// cluster without startup taints.
type Gate struct {
	config Config
	queue  workqueue.TypedRateLimitingInterface[string]

	mu sync.Mutex
	// nodes are the nodes with the startup taint, by name.
	nodes map[string]*tainted
}

// tainted is what a gate remembers of a node with the startup taint.
type tainted struct {
	// uid tells the node from an earlier one with its name.
	uid types.UID
	// waited means that this replica has seen that the node was not ready. seen is when it first
	// saw that the node is ready; zero if it is not.
	waited bool
	seen   time.Time
	// done means that the node needs the taint no longer.
	done bool
	// failed means that the taint could not be removed, which is logged once.
	failed bool
}

// New returns a gate that removes nothing until Run.
func New(c Config) *Gate {
	return &Gate{config: c, nodes: map[string]*tainted{}, queue: workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry),
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: c.Clock})}
}

// Changed reports that a node was created, changed or deleted. It does not block.
func (g *Gate) Changed(name string) {
	if node := g.config.Node(name); node != nil && Tainted(node) {
		g.due(node) // It counts from now, even if all workers are busy.
	}
	g.queue.Add(name)
}

// Release lets pods onto a node now: it is measured, or it will not be. It does nothing for a
// node without the startup taint.
func (g *Gate) Release(name string) {
	if g == nil {
		return
	}
	node := g.config.Node(name)
	if node == nil || !Tainted(node) {
		return
	}
	g.mu.Lock()
	g.known(node).done = true
	g.mu.Unlock()
	g.queue.Add(name)
}

// Until returns when a node will let pods in at the latest; zero if it does so now. A node that
// is not ready keeps pods out anyway, so its time begins later.
func (g *Gate) Until(name string) time.Time {
	if g == nil {
		return time.Time{}
	}
	node := g.config.Node(name)
	if node == nil || !Tainted(node) {
		return time.Time{}
	}
	if due, ready := g.due(node); ready {
		return due
	}
	return g.config.Clock.Now().Add(Patience)
}

// Run removes startup taints until ctx is done.
func (g *Gate) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, g.queue.ShutDown)()
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for {
				name, end := g.queue.Get()
				if end {
					return
				}
				g.process(ctx, name)
				g.queue.Done(name)
			}
		})
	}
	working.Wait()
}

// process removes the taint of a node if its time has come, or comes back to it later.
func (g *Gate) process(ctx context.Context, name string) {
	node := g.config.Node(name)
	if node == nil || !Tainted(node) {
		g.forget(name)
		return
	}
	due, ready := g.due(node)
	switch {
	case !ready:
		return // The node changes when it is ready.
	case !g.config.Leads():
		due = due.Add(grace)
	}
	if left := due.Sub(g.config.Clock.Now()); left > 0 && !g.measured(node) {
		g.queue.AddAfter(name, left)
		return
	}
	logger := klog.FromContext(ctx)
	switch err := remove(ctx, g.config.Nodes, node); {
	case err == nil:
		logger.Info("Startup taint removed", "node", name, "measured", g.measured(node))
		g.queue.Forget(name)
	case apierrors.IsNotFound(err):
		g.forget(name)
	default:
		if ctx.Err() != nil {
			return
		}
		if !apierrors.IsInvalid(err) && g.firstFailure(node) {
			// The right to remove it may be missing.
			logger.Error(err, "Startup taint not removed; trying again", "node", name)
		} else {
			logger.V(1).Info("Startup taint not removed yet", "node", name, "error", err.Error())
		}
		g.queue.AddRateLimited(name)
	}
}

// due returns when the taint of a node must go; false while the node is not ready.
//
// It counts from when this replica saw the node become ready. If the node was ready before, only its
// conditions have the time. That time is from the clock of the node, which may be wrong. So
// it counts only if it is after the creation of the node and before this replica first saw it, by
// the clocks of the API server and of this replica.
func (g *Gate) due(of *corev1.Node) (time.Time, bool) {
	ready, since := node.Readiness(of)
	g.mu.Lock()
	defer g.mu.Unlock()
	known := g.known(of)
	switch {
	case !ready:
		known.waited, known.seen = true, time.Time{}
		return time.Time{}, false
	case known.seen.IsZero():
		known.seen = g.config.Clock.Now()
	}
	if created := of.CreationTimestamp.Time; created.After(since) {
		since = created
	}
	if known.waited || since.After(known.seen) {
		since = known.seen
	}
	return since.Add(Patience), true
}

// known returns what is remembered of a node. g.mu must be held.
func (g *Gate) known(node *corev1.Node) *tainted {
	known := g.nodes[node.Name]
	if known == nil || known.uid != node.UID {
		known = &tainted{uid: node.UID}
		g.nodes[node.Name] = known
	}
	return known
}

func (g *Gate) measured(node *corev1.Node) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := g.nodes[node.Name]
	return known != nil && known.uid == node.UID && known.done
}

func (g *Gate) firstFailure(node *corev1.Node) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := g.known(node)
	first := !known.failed
	known.failed = true
	return first
}

func (g *Gate) forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.nodes, name)
	g.queue.Forget(name)
}
