package reconciler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/leader"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// everyPod makes no pod wait for canaries: the pods of these tests have the same controller.
var everyPod = policy.Guard{MaxUnproven: policy.AllPods}

// replicas is a cluster in which several reconcilers run.
type replicas struct {
	*apiServer
	config *rest.Config
	pods   int
	source *ratiotest.Memory
	sizes  *sizeHistory
}

// replica is one reconciler. It counts its writes, and its connection can be cut.
type replica struct {
	*Reconciler
	elector  *leader.Elector
	holds    *hold.Store
	events   *loop.Events
	registry *prometheus.Registry
	cancel   context.CancelFunc
	ended    sync.WaitGroup

	cut  atomic.Bool
	rate throttle
	// podWrites and told count the writes to pods and to events that have begun; before
	// is their sum when limit was called.
	podWrites, told atomic.Int64
	before          int64
	// podResizes counts those of podWrites that are resizes; lastResize is when the last one
	// began, in Unix nanoseconds.
	podResizes, lastResize atomic.Int64
}

// performance returns ratios in which n4 has this cpu ratio to the baseline.
func performance(n4 float64) ratios.Update {
	return ratios.Update{Layer: &ratios.Layer{Settings: keys.Some(policy.Settings{Guard: everyPod}), Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: n4, MemoryPerf: 1}}}}
}

// strange is the pod on a node whose type has no ratio.
const strange = "strange"

func (s *replicas) strangeNode(t *testing.T) *corev1.Node {
	t.Helper()
	n := s.node(t, strange)
	n, err := s.client.CoreV1().Nodes().Patch(t.Context(), n.Name, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"labels":{%q:"x9"}}}`, nodetype.LabelGCPMachineFamily), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// create creates a pod that requests 100m and whose controller is its node.
func (s *replicas) create(t *testing.T, n *corev1.Node, name string) {
	t.Helper()
	controller, no := true, false
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID, Controller: &controller}},
		},
		Spec: corev1.PodSpec{
			NodeName: n.Name, AutomountServiceAccountToken: &no,
			Containers: []corev1.Container{{Name: "app", Image: "none", Resources: podtest.Amounts{"100m", "", "64Mi", ""}.Requirements()}},
		},
	}
	localcluster.Eventually(t, "the namespace's ServiceAccount", func() error {
		_, err := s.client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{})
		return err
	})
}

// start starts a replica without a rate limit, unless a change to its configuration sets one.
func (s *replicas) start(t *testing.T, identity string, changes ...func(*Config)) *replica {
	t.Helper()
	c := &replica{registry: prometheus.NewRegistry()}
	config := rest.CopyConfig(s.config)
	config.Wrap(c.wrap)
	bounded := rest.CopyConfig(config)
	bounded.Timeout = leader.RequestTimeout(leaseDuration)
	client := kubernetes.NewForConfigOrDie(config)
	var err error
	if c.elector, err = leader.New(leader.Config{
		Client: kubernetes.NewForConfigOrDie(bounded).CoordinationV1(), Namespace: "default", Name: "workload-resizer", Identity: identity,
		LeaseDuration: leaseDuration,
	}); err != nil {
		t.Fatal(err)
	}
	store := ratios.NewStore(s.source)
	c.holds = hold.New(client, "default", "holds")
	c.events = loop.NewEvents(client)
	writer := kubernetes.NewForConfigOrDie(actuate.ClientConfig(config, 2*time.Second))
	reconciling := Config{
		Client: client, Dynamic: dynamic.NewForConfigOrDie(config), Writer: writer, Asker: writer, Leader: c.elector,
		Ratios: store, Holds: c.holds, Planner: plan.Planner{OwnerKinds: []string{"Node"}, External: plan.OverrideExternal},
		Events: c.events, Metrics: c.registry, Workers: replicaWorkers,
	}
	for _, change := range changes {
		change(&reconciling)
	}
	if c.Reconciler, err = New(reconciling); err != nil {
		t.Fatal(err)
	}
	c.rate.set(0)
	c.Writer.Limiter = &c.rate
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	for _, part := range []func(context.Context) error{store.Run, c.holds.Run, func(ctx context.Context) error { return c.elector.Run(ctx, c.Filled(), c.Run) }} {
		c.ended.Go(func() {
			if err := part(ctx); err != nil {
				t.Errorf("replica %s ended with %v", identity, err)
			}
		})
	}
	t.Cleanup(func() {
		c.stop()
		c.events.Shutdown()
	})
	return c
}

// wrap counts writes, and fails all requests while the connection is cut.
func (c *replica) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if c.cut.Load() {
			return nil, errors.New("the connection is cut")
		}
		if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/pods/") {
			c.podWrites.Add(1)
		}
		if strings.HasSuffix(r.URL.Path, "/"+contract.ResizeSubresource) {
			c.podResizes.Add(1)
			c.lastResize.Store(time.Now().UnixNano())
		}
		if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/events") {
			c.told.Add(1)
		}
		return next.RoundTrip(r)
	})
}

func (c *replica) writes() int64 { return c.podWrites.Load() + c.told.Load() }

// limit limits the replica to this many writes per second.
func (c *replica) limit(qps float32) {
	c.before = c.writes()
	c.rate.set(qps)
}

// awaitWrites waits until the replica has made n writes since limit was called.
func (c *replica) awaitWrites(t *testing.T, n int64) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("%d writes", n), func() error {
		if got := c.writes() - c.before; got < n {
			return fmt.Errorf("there were %d", got)
		}
		return nil
	})
}

// lease returns the spec of the Lease.
func (s *replicas) lease(t *testing.T) coordinationv1.LeaseSpec {
	t.Helper()
	lease, err := s.client.CoordinationV1().Leases("default").Get(t.Context(), "workload-resizer", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lease.Spec
}

func (c *replica) awaitLead(t *testing.T) {
	t.Helper()
	localcluster.Eventually(t, "a replica to lead", func() error {
		if !c.Leads() {
			l, _ := c.elector.Leader()
			return fmt.Errorf("%q leads", l.Identity)
		}
		return nil
	})
}

// silent checks that the replica has neither written nor reported anything.
func (c *replica) silent(t *testing.T) {
	t.Helper()
	if n := c.writes(); n > 0 {
		t.Errorf("a follower wrote %d times", n)
	}
	if n := outcomes(t, c.registry, ""); n > 0 {
		t.Errorf("a follower reported %v outcomes", n)
	}
}

// stop ends the replica as SIGTERM does, and returns when it has ended.
func (c *replica) stop() {
	c.cancel()
	c.ended.Wait()
}

// sized counts the pods that request this much cpu.
func (s *replicas) sized(cpu string) int {
	s.sizes.mu.Lock()
	defer s.sizes.mu.Unlock()
	n := 0
	for _, had := range s.sizes.had {
		if had[len(had)-1] == cpu {
			n++
		}
	}
	return n
}

func (s *replicas) awaitSizes(t *testing.T, cpu string) {
	t.Helper()
	localcluster.Eventually(t, "all pods to have "+cpu, func() error {
		if n := s.sized(cpu); n != s.pods {
			return fmt.Errorf("%d of %d have it", n, s.pods)
		}
		return nil
	})
}
