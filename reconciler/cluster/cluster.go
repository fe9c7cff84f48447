package cluster

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/owners"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Holds provides the holds in effect; package hold has the implementation.
type Holds interface {
	// Ready returns the holds, or why they are unknown. While they are unknown, nothing
	// is written.
	Ready() (*hold.Table, error)
}

// Changes is notified of everything that may change the plan of a pod. It is called from
// the event handlers of the caches, and must not block.
type Changes interface {
	// Changed reports that a pod was created, changed or deleted, or that another input
	// of its plan has changed.
	Changed(pod types.NamespacedName)
	// Eased reports a namespace or a node where these reasons may no longer prevent
	// resizes.
	Eased(place string, reasons ...contract.Reason)
}

// Config configures a Cluster. All fields must be set unless their comment names a
// default.
type Config struct {
	// Client watches the cluster.
	Client kubernetes.Interface
	// Dynamic watches kinds that may not exist in the cluster.
	Dynamic dynamic.Interface
	// WorkloadKinds are the kinds of owners to follow, from the controllers of pods
	// upward. Metadata watches them. With no kinds, Metadata may be nil, and owners are
	// only derived from names.
	WorkloadKinds []schema.GroupResource
	Metadata      metadata.Interface
	// VPAPolicies means that VerticalPodAutoscalers that name workload-resizer say what their targets need.
	VPAPolicies bool
	// Ratios provides the table of ratios.
	Ratios *ratios.Store
	// Holds provides the restores and pauses.
	Holds Holds
	// Planner plans. Read adds the restrictions of the API server's version.
	Planner *plan.Planner
	// Keys returns the keys that prove which sizes pods were given at their creation; nil if there are none.
	Keys func() *seal.Ring
	// Metrics is where all metrics are registered.
	Metrics prometheus.Registerer
	// Clock provides the time.
	Clock clock.WithTicker
}

// Cluster holds the known state of a cluster. All methods are safe for concurrent use at
// any time.
type Cluster struct {
	Config
	changes Changes
	// signals returns how a pod fares; nil if nobody knows.
	signals func(*pod.Pod) guard.Signals
	// demand returns what usage says about a pod, given its owners, and whether it is being created; nil if the sizes of
	// pods follow no usage.
	demand func(of *pod.Pod, owners []workload.Workload, table *ratios.Table, creating bool) need.Demand
	// refused returns the last refusal of the pod's node; nil if there is none.
	refused func(types.NamespacedName, types.UID, time.Time) *plan.Refusal
	// failed returns what the last writes to the pod met; nil if they succeeded.
	failed func(*pod.Pod) *plan.Failure

	factory     informers.SharedInformerFactory
	pods        podLister
	podIndex    cache.Indexer
	nodes       listersv1.NodeLister
	limitRanges listersv1.LimitRangeLister
	quotas      listersv1.ResourceQuotaLister
	autoscalers cache.Indexer
	// budgets has the PodDisruptionBudgets, members the pods of some, and relief reports changes to them.
	budgets cache.Indexer
	members *workload.Members
	relief  *relief
	vpas    *vpas
	answers *answers
	owners  *owners.Owners
	// above is called for each pod whose known owners may have changed.
	above []func(types.NamespacedName)
	rooms *node.Table
	// nodesRevision changes with what decides which pods may run on which nodes.
	nodesRevision atomic.Uint64
	// filled is closed once all pods are read.
	filled chan struct{}
	// unread is why the cluster is not read yet; nil if it is read or if no error
	// is known.
	unread atomic.Pointer[error]
}

// New returns a cluster whose state is unknown until Read.
func New(config Config) (*Cluster, error) {
	factory, err := newInformers(config.Client, config.Keys)
	if err != nil {
		return nil, err
	}
	pods := factory.Core().V1().Pods().Informer().GetIndexer()
	c := &Cluster{
		Config:      config,
		refused:     func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil },
		failed:      plan.FailureOf,
		factory:     factory,
		pods:        podLister{pods},
		podIndex:    pods,
		nodes:       factory.Core().V1().Nodes().Lister(),
		limitRanges: factory.Core().V1().LimitRanges().Lister(),
		quotas:      factory.Core().V1().ResourceQuotas().Lister(),
		autoscalers: factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer().GetIndexer(),
		budgets:     factory.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer(),
		relief:      newRelief(),
		rooms:       node.NewTable(),
		answers:     newAnswers(),
		filled:      make(chan struct{}),
	}
	c.members = c.newMembers()
	c.owners = owners.New(owners.Config{
		Resources: config.WorkloadKinds, Client: config.Metadata, Discovery: config.Client.Discovery(), Changed: c.ownerChanged,
	})
	config.Metrics.MustRegister(c.owners)
	if c.vpas, err = newVPAs(config.Dynamic, c.vpaChanged); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cluster) newMembers() *workload.Members {
	return workload.NewMembers(c.pods, func(b *workload.Budget) bool {
		now, _, _ := c.budgets.Get(b) // A cache returns no error.
		return now != nil && now.(*workload.Budget).UID() == b.UID()
	}, c.budgetsIn)
}

// Serve sets the receiver of changes, and the function that returns what nodes refused
// for a pod. Call it before Read.
func (c *Cluster) Serve(changes Changes, refused func(types.NamespacedName, types.UID, time.Time) *plan.Refusal) {
	c.changes, c.refused = changes, refused
}

// Heed sets the function that returns what the last writes to a pod met. Call it before Read. Otherwise,
// it is what the pod records.
func (c *Cluster) Heed(failed func(*pod.Pod) *plan.Failure) { c.failed = failed }

// Hear sets the functions that return how a pod fares, and what it needs according to usage: the latter returns nil if its
// sizes do not follow usage. Call it before Read.
func (c *Cluster) Hear(signals func(*pod.Pod) guard.Signals, demand func(of *pod.Pod, owners []workload.Workload, table *ratios.Table, creating bool) need.Demand) {
	c.signals, c.demand = signals, demand
}

// Read reads the cluster and follows it until ctx is done. It returns once everything is
// read. If ctx is done earlier, it returns the error of ctx.
func (c *Cluster) Read(ctx context.Context) error {
	if err := c.watch(); err != nil {
		return err
	}
	if err := c.learnServer(ctx); err != nil {
		return err
	}
	if err := c.fill(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("read the cluster: %w", err)
	}
	for _, k := range c.pods.Pods(metav1.NamespaceAll).List() {
		// Before any pod is planned: an answer on one pod counts for all pods of its node.
		c.answers.hear(k, c.Node(k))
	}
	close(c.filled)
	klog.FromContext(ctx).Info("Caches synced", "pods", len(c.podIndex.ListKeys()))
	return nil
}

// fill fills the caches. It does not wait for informers to end: without a connection to
// the API server, they end with a delay.
func (c *Cluster) fill(ctx context.Context) error {
	// Owners first, so that they are known when the pods arrive.
	go c.owners.Run(ctx)
	if err := c.owners.Wait(ctx); err != nil {
		return err
	}
	c.factory.StartWithContext(ctx)
	go c.relief.run(ctx, c.Clock, c.changes)
	go c.vpas.informer.RunWithContext(ctx)
	if err := c.factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		return err
	}
	return c.vpas.wait(ctx)
}

// Know adds pods and nodes as if they had been read, for tests and benchmarks.
func (c *Cluster) Know(pods []*pod.Pod, nodes []*corev1.Node) error {
	for _, of := range pods {
		if err := c.podIndex.Add(of); err != nil {
			return err
		}
		c.reserve(of)
		c.members.PodChanged(nil, of)
	}
	for _, node := range nodes {
		if err := c.factory.Core().V1().Nodes().Informer().GetIndexer().Add(node); err != nil {
			return err
		}
	}
	c.nodesRevision.Add(1)
	if !c.IsFilled() {
		close(c.filled)
	}
	return nil
}

// Forget removes a pod as if it had been deleted, for tests.
func (c *Cluster) Forget(of *pod.Pod) error {
	c.rooms.Remove(of.UID)
	c.members.PodChanged(of, nil)
	return c.podIndex.Delete(of)
}

// Pods returns a lister for the pods in a namespace, or in all namespaces if it is empty.
func (c *Cluster) Pods(namespace string) Lister { return c.pods.Pods(namespace) }

// On returns the pods of a node, in any order. The caller owns the slice.
func (c *Cluster) On(node string) []*pod.Pod { return c.pods.On(node) }

// Owners returns the owners of pods.
func (c *Cluster) Owners() *owners.Owners { return c.owners }
