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
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/owners"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Holds tells of the holds in force; package hold has the one that counts.
type Holds interface {
	// Ready returns them, or why they are not known: then nothing is written.
	Ready() (*hold.Table, error)
}

// Changes is told what may make another plan of a pod. It is called while the caches are
// told, and must not block.
type Changes interface {
	// Changed tells of a pod that has come, changed or gone, or of which something else
	// did that its plan is made from.
	Changed(pod types.NamespacedName)
	// Eased tells of a namespace or node where what speaks against resizes, for these
	// reasons, may do so no more.
	Eased(place string, reasons ...contract.Reason)
}

// Config is what a Cluster is made of. All fields must be set, where no other
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
	// Ratios is where the table is.
	Ratios *ratios.Store
	// Holds are the pods to be restored or let be.
	Holds Holds
	// Planner plans; Read adds what the API server's version allows.
	Planner *plan.Planner
	// Metrics are registered here.
	Metrics prometheus.Registerer
	// Clock tells the time.
	Clock clock.Clock
}

// Cluster is what is known of a cluster. All methods may be called at any time from any
// goroutine.
type Cluster struct {
	Config
	changes Changes
	// refused returns what the node of a pod refused last, nil if nothing.
	refused func(types.NamespacedName, types.UID, time.Time) *plan.Refusal

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
	// above tell those who watch pods of one above which more may be known.
	above    []func(types.NamespacedName)
	reserved *reserved
	// filled is closed once all pods were read.
	filled chan struct{}
	// unread is why the cluster is not read, nil if it is or nothing is known
	// to be wrong.
	unread atomic.Pointer[error]
}

// New returns a cluster of which nothing is known until Read.
func New(config Config) (*Cluster, error) {
	factory, err := newInformers(config.Client)
	if err != nil {
		return nil, err
	}
	pods := factory.Core().V1().Pods().Informer().GetIndexer()
	c := &Cluster{
		Config:      config,
		refused:     func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil },
		factory:     factory,
		pods:        podLister{pods},
		podIndex:    pods,
		nodes:       factory.Core().V1().Nodes().Lister(),
		limitRanges: factory.Core().V1().LimitRanges().Lister(),
		quotas:      factory.Core().V1().ResourceQuotas().Lister(),
		autoscalers: factory.Autoscaling().V2().HorizontalPodAutoscalers().Lister(),
		reserved:    newReserved(),
		answers:     newAnswers(),
		filled:      make(chan struct{}),
	}
	c.owners = owners.New(owners.Config{
		Resources: config.WorkloadKinds, Client: config.Metadata, Discovery: config.Client.Discovery(), Changed: c.ownerChanged,
	})
	config.Metrics.MustRegister(c.owners)
	if c.vpas, err = newVPAs(config.Dynamic, c.namespaceChanged); err != nil {
		return nil, err
	}
	return c, nil
}

// Serve says who is told of changes, and knows what nodes refused of a pod. It is called
// before Read.
func (c *Cluster) Serve(changes Changes, refused func(types.NamespacedName, types.UID, time.Time) *plan.Refusal) {
	c.changes, c.refused = changes, refused
}

// Read has the cluster read, and followed until ctx is done. It returns once everything was
// read; where ctx is done before, it returns the error of ctx.
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
		// Before any pod is planned: what one of them found out is for all of its node.
		c.answers.hear(k, c.Node(k))
	}
	close(c.filled)
	klog.FromContext(ctx).Info("Caches are filled", "pods", len(c.podIndex.ListKeys()))
	return nil
}

// fill fills the caches. Their end is not waited for: away from the API
// server, informers end only after a pause.
func (c *Cluster) fill(ctx context.Context) error {
	// First what is above pods, so that it is known when these come.
	go c.owners.Run(ctx)
	if err := c.owners.Wait(ctx); err != nil {
		return err
	}
	c.factory.StartWithContext(ctx)
	go c.vpas.informer.RunWithContext(ctx)
	if err := c.factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		return err
	}
	return c.vpas.wait(ctx)
}

// Know has these known, as if they had been read, for tests and benchmarks.
func (c *Cluster) Know(pods []*pod.Pod, nodes []*corev1.Node) error {
	for _, of := range pods {
		if err := c.podIndex.Add(of); err != nil {
			return err
		}
		c.reserved.set(of)
	}
	for _, node := range nodes {
		if err := c.factory.Core().V1().Nodes().Informer().GetIndexer().Add(node); err != nil {
			return err
		}
	}
	if !c.IsFilled() {
		close(c.filled)
	}
	return nil
}

// Pods finds pods.
func (c *Cluster) Pods(namespace string) Lister { return c.pods.Pods(namespace) }

// On returns the pods of a node, in any order. The slice is the caller's.
func (c *Cluster) On(node string) []*pod.Pod { return c.pods.On(node) }

// Owners knows what is above pods.
func (c *Cluster) Owners() *owners.Owners { return c.owners }
