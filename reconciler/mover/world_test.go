package mover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// world is a cluster without an API server, in which nothing happens by itself.
type world struct {
	*testing.T
	cluster *cluster.Cluster
	// objects are the pods that exist, by name.
	objects map[string]*corev1.Pod
	nodes   []*corev1.Node
	full    map[string]bool
	mover   *Mover
	// stored is the book as it is stored, book as the leader knows it, and known has the pods that it has planned.
	stored []byte
	book   *evict.Book
	known  planned
	// blocked means that budgets allow nothing, and frozen that the cluster is frozen.
	blocked, frozen bool
	versions        int
	evicted         int
}

// most is how many pods may be evicted within an hour.
const most = 4

// begin lets the cluster have so many nodes.
func (w *world) begin(nodes int) {
	w.cluster = clustertest.Unread(w)
	w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: most})
	w.nodes = nodesOf(nodes)
}

// settle sets the settings of evictions.
func (w *world) settle(e policy.Eviction) { settle(w, w.cluster, e) }

// settle sets the settings of evictions in a cluster on whose nodes pods need 1.25 times what their authors wrote.
func settle(t testing.TB, c *cluster.Cluster, e policy.Eviction) {
	c.Ratios = clustertest.Store(t, &ratios.Layer{
		Baseline: "n4", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
		Settings: keys.Some(policy.Settings{Guard: policy.Guard{MaxUnproven: policy.AllPods}, Eviction: e}), Cluster: keys.Some(policy.Cluster{}, "pace"),
	})
}

// nodesOf returns so many nodes, all of the same type: n0, n1 and so on.
func nodesOf(count int) (nodes []*corev1.Node) {
	for i := range count {
		n := clustertest.Node(fmt.Sprintf("n%d", i), "n2d", "64")
		n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})
		nodes = append(nodes, n)
	}
	return nodes
}

func ready(p *corev1.Pod, is bool) {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
}

// put creates or changes a pod, and shows it to the cache.
func (w *world) put(p *corev1.Pod) {
	w.versions++
	p.ResourceVersion = fmt.Sprint(w.versions)
	w.objects[p.Name] = p
	if err := w.cluster.Know([]*pod.Pod{pod.From(p)}, nil); err != nil {
		w.Fatal(err)
	}
}

// resize gives nodes their size.
func (w *world) resize() { w.nodes = resize(w, w.cluster, w.nodes, w.full) }

// resize gives nodes their size: those that are full have no room for more than runs there.
func resize(t testing.TB, c *cluster.Cluster, nodes []*corev1.Node, full map[string]bool) (resized []*corev1.Node) {
	for _, n := range nodes {
		n = n.DeepCopy()
		n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("64")
		if full[n.Name] {
			// Each pod requests a core.
			n.Status.Allocatable[corev1.ResourceCPU] = *resource.NewQuantity(int64(max(len(c.On(n.Name)), 1)), resource.DecimalSI)
		}
		resized = append(resized, n)
	}
	if err := c.Know(nil, resized); err != nil {
		t.Fatal(err)
	}
	return resized
}

// lead starts a new leader, which knows only what is stored.
func (w *world) lead() {
	w.known, w.book = planned{}, nil
	client := fake.NewClientset()
	client.PrependReactor("get", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		name := action.(clienttesting.GetAction).GetName()
		p := w.objects[name]
		if p == nil {
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, name)
		}
		return true, p.DeepCopy(), nil
	})
	w.mover = New(Config{
		Cluster: w.cluster, Planner: w.cluster.Planner, Holds: clustertest.NoHolds{}, Loop: w, Client: client, Evict: w.evict, Watcher: client,
		Tell: func(types.NamespacedName, types.UID, plan.Reason) {}, Clock: w.cluster.Clock,
	})
	w.mover.store = w
	w.plan()
}

// run implements keeper.
func (w *world) run(context.Context) {}

// last implements keeper.
func (w *world) last() (*evict.Book, error) {
	if w.book == nil {
		w.book = w.read()
	}
	return w.book, nil
}

func (w *world) read() *evict.Book {
	book, err := parse(map[string]string{bookKey: string(w.stored)})
	if err != nil {
		w.Fatal(err)
	}
	return book
}

// update implements keeper.
func (w *world) update(_ context.Context, change func(*evict.Book) bool) error {
	book := w.read()
	if change(book) {
		var err error
		if w.stored, err = json.Marshal(book.Entries); err != nil {
			w.Fatal(err)
		}
	}
	w.book = w.read()
	return nil
}

// Knows implements Loop.
func (w *world) Knows(of *pod.Pod) bool { return w.known[of.UID] }

// PermitEviction implements Loop.
func (w *world) PermitEviction(context.Context, *pod.Pod) error {
	if w.frozen {
		return &actuate.StoppedError{Because: "the cluster is frozen"}
	}
	return nil
}

// CountEviction implements Loop.
func (w *world) CountEviction(workload.Group, workload.Eviction) {}

// evict evicts a pod as the API server does.
func (w *world) evict(ctx context.Context, object *corev1.Pod, permit func(context.Context) error) error {
	if err := permit(ctx); err != nil {
		return err
	}
	is := w.objects[object.Name]
	gr := schema.GroupResource{Resource: "pods"}
	switch {
	case is == nil:
		return apierrors.NewNotFound(gr, object.Name)
	case is.UID != object.UID || is.ResourceVersion != object.ResourceVersion:
		return apierrors.NewConflict(gr, object.Name, errors.New("changed"))
	case w.blocked:
		return &actuate.BudgetError{Err: apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "evict", gr, object.Name, "budget", 0, true)}
	}
	delete(w.objects, is.Name)
	w.evicted++
	w.forget(pod.From(is))
	return nil
}

// forget removes a pod from the cache.
func (w *world) forget(of *pod.Pod) {
	if err := w.cluster.Forget(of); err != nil {
		w.Fatal(err)
	}
	w.mover.Planned(of.NamespacedName(), nil, nil)
}

// plan plans all pods.
func (w *world) plan() { w.known.all(w.cluster, w.mover) }

// planned has the pods that a leader has planned.
type planned map[types.UID]bool

// all plans all pods, as the loop does when something changes.
func (k planned) all(c *cluster.Cluster, m *Mover) {
	rules, _ := c.Rules()
	for _, of := range c.Pods("").List() {
		m.Planned(of.NamespacedName(), of, c.Planner.Plan(c.Snapshot(of, rules)))
		k[of.UID] = true
	}
}
