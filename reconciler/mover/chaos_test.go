package mover

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
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
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

var (
	rounds = flag.Int("rounds", 10, "number of random rounds of evictions")
	seed   = flag.Uint64("seed", 0, "seed of the first round")
)

// world is a cluster whose nodes become full and empty, with a leader that is killed.
type world struct {
	*testing.T
	*rand.Rand
	seed    uint64
	cluster *cluster.Cluster
	// objects are the pods that exist, by name; the cache may be behind.
	objects map[string]*corev1.Pod
	nodes   []*corev1.Node
	full    map[string]bool
	mover   *Mover
	// stored is the book as it is stored, and known has the pods that this leader has planned.
	stored []byte
	book   *evict.Book
	known  map[types.UID]bool
	// dead means that the leader was killed, so that nothing it does has an effect.
	dead, frozen bool
	// calm means that nobody is killed, and budgets allow everything.
	calm, blocked bool
	pods          int
	// moved has the pods that were evicted, by their causes, and gone when these causes went away. moving has the pods whose
	// replacements are not ready, and hour when pods were evicted.
	moved   map[evict.Cause]types.UID
	gone    map[evict.Cause]time.Time
	moving  map[types.UID]movement
	hour    []time.Time
	evicted int
}

type movement struct {
	namespace, node string
	workload        workload.Workload
	at              time.Time
}

const most = 4

// newWorld returns a world with 6 nodes, 4 workloads, and pods that must never move.
func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		T: t, Rand: rand.New(rand.NewPCG(seed, 39)), seed: seed, objects: map[string]*corev1.Pod{}, full: map[string]bool{}, stored: []byte("[]"),
		moved: map[evict.Cause]types.UID{}, gone: map[evict.Cause]time.Time{}, moving: map[types.UID]movement{},
	}
	w.begin(6)
	for i := range 4 {
		for range 1 + w.IntN(4) {
			w.add(fmt.Sprintf("w%d", i))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(protected)) {
		for range 2 {
			p := w.add(name)
			protected[name](p)
			w.put(p)
		}
	}
	w.resize()
	w.lead()
	return w
}

// begin lets the cluster have so many nodes, all of the same type, on which pods need 1.25 times what their authors wrote.
func (w *world) begin(nodes int) {
	w.cluster = clustertest.Unread(w)
	w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: most})
	for i := range nodes {
		w.nodes = append(w.nodes, clustertest.Node(fmt.Sprintf("n%d", i), "n2d", "32"))
		w.nodes[i].Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
		w.nodes[i].Status.Conditions = append(w.nodes[i].Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})
	}
}

// settle sets the settings of evictions.
func (w *world) settle(e policy.Eviction) {
	w.cluster.Ratios = clustertest.Store(w, &ratios.Layer{
		Baseline: "n4", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
		Settings: keys.Some(policy.Settings{Guard: policy.Guard{MaxUnproven: policy.AllPods}, Eviction: e}), Cluster: keys.Some(policy.Cluster{}, "pace"),
	})
}

// protected are pods that must never move, although nodes lack room for them.
var protected = map[string]func(*corev1.Pod){
	"daemon": func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" },
	"job":    func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion, p.OwnerReferences[0].Kind = "batch/v1", "Job" },
	"pinned": func(p *corev1.Pod) { p.Annotations = map[string]string{evict.SafeToEvict: "false"} },
	"kept":   func(p *corev1.Pod) { p.Annotations = map[string]string{evict.DoNotDisrupt: "true"} },
	"never":  podtest.Annotated("eviction-rank", "never"),
	"typo":   podtest.Annotated("eviction-rank", "nver"),
	"local": func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	},
}

// add adds a ready pod of a workload on a random node.
func (w *world) add(name string) *corev1.Pod {
	w.pods++
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", fmt.Sprintf("%s-%d", name, w.pods), w.nodes[w.IntN(len(w.nodes))].Name))
	p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = name, types.UID("rs-"+name)
	ready(p, true)
	w.put(p)
	return p
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
	w.pods++
	p.ResourceVersion = fmt.Sprint(w.pods)
	w.objects[p.Name] = p
	if err := w.cluster.Know([]*pod.Pod{pod.From(p)}, nil); err != nil {
		w.Fatal(err)
	}
}

// resize gives nodes their size: those that are full have no room for more than runs there.
func (w *world) resize() {
	for i, n := range w.nodes {
		n = n.DeepCopy()
		n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("64")
		if w.full[n.Name] {
			sum := int64(0)
			for _, p := range w.objects {
				if p.Spec.NodeName == n.Name {
					sum++
				}
			}
			n.Status.Allocatable[corev1.ResourceCPU] = *resource.NewQuantity(max(sum, 1), resource.DecimalSI)
		}
		w.nodes[i] = n
	}
	if err := w.cluster.Know(nil, w.nodes); err != nil {
		w.Fatal(err)
	}
}

// lead starts a new leader, which knows only what is stored.
func (w *world) lead() {
	w.dead, w.known, w.book = false, map[types.UID]bool{}, nil
	client := fake.NewClientset()
	client.PrependReactor("get", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if err := w.kill(); err != nil {
			return true, nil, err
		}
		name := action.(clienttesting.GetAction).GetName()
		p := w.objects[name]
		if p == nil {
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, name)
		}
		return true, p.DeepCopy(), w.kill()
	})
	w.mover = New(Config{
		Cluster: w.cluster, Planner: w.cluster.Planner, Holds: clustertest.NoHolds{}, Loop: w, Client: client, Evict: w.evict, Watcher: client,
		Tell: func(types.NamespacedName, types.UID, plan.Reason) {}, Clock: w.cluster.Clock,
	})
	w.mover.store = w
	w.plan()
}

var errKilled = errors.New("the leader was killed")

// kill kills the leader at random, before or after what it does.
func (w *world) kill() error {
	if w.dead = w.dead || !w.calm && w.IntN(40) == 0; w.dead {
		return errKilled
	}
	return nil
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
		w.Fatalf("seed %d: %v", w.seed, err)
	}
	return book
}

// update implements keeper.
func (w *world) update(_ context.Context, change func(*evict.Book) bool) error {
	if err := w.kill(); err != nil {
		return err
	}
	book := w.read()
	if change(book) {
		var err error
		if w.stored, err = json.Marshal(book.Entries); err != nil {
			w.Fatal(err)
		}
	}
	if err := w.kill(); err != nil {
		return err
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

// evict evicts a pod as the API server does, and checks that it may.
func (w *world) evict(ctx context.Context, object *corev1.Pod, permit func(context.Context) error) error {
	if err := w.kill(); err != nil {
		return err
	}
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
	case w.blocked || !w.calm && w.IntN(3) == 0:
		return &actuate.BudgetError{Err: apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "evict", gr, object.Name, "budget", 0, true)}
	}
	w.check(is)
	delete(w.objects, is.Name)
	if w.IntN(3) > 0 {
		w.forget(pod.From(is)) // Otherwise, the cache is late.
	}
	return w.kill()
}

// forget removes a pod from the cache.
func (w *world) forget(of *pod.Pod) {
	if err := w.cluster.Forget(of); err != nil {
		w.Fatal(err)
	}
	w.mover.Planned(of.NamespacedName(), nil, nil)
}

func ownerOf(p *corev1.Pod) workload.Workload {
	return workload.Workload{Kind: p.OwnerReferences[0].Kind, Name: p.OwnerReferences[0].Name}
}

// check fails the test unless a pod may be evicted now.
func (w *world) check(p *corev1.Pod) {
	now, owner := w.cluster.Clock.Now(), ownerOf(p)
	if protected[owner.Name] != nil {
		w.Fatalf("seed %d: %s was evicted, which is protected", w.seed, p.Name)
	}
	if w.frozen {
		w.Fatalf("seed %d: %s was evicted while the cluster is frozen", w.seed, p.Name)
	}
	others := 0
	for _, other := range w.objects {
		if other.UID != p.UID && ownerOf(other) == owner && isReady(other) {
			others++
		}
	}
	if others == 0 && isReady(p) {
		w.Fatalf("seed %d: %s was evicted, the last ready pod of its workload", w.seed, p.Name)
	}
	cause := evict.Cause{Namespace: p.Namespace, Workload: owner, Node: p.Spec.NodeName, Reason: noRoom}
	if before, open := w.moved[cause]; open && before != p.UID {
		w.Fatalf("seed %d: %s was evicted, although %s was for %v", w.seed, p.Name, before, cause)
	}
	for uid, m := range w.moving {
		if uid != p.UID && now.Sub(m.at) < wholeWithin && (m.node == p.Spec.NodeName || m.workload == owner) {
			w.Fatalf("seed %d: %s was evicted while %s moves", w.seed, p.Name, uid)
		}
	}
	w.moved[cause] = p.UID
	delete(w.gone, cause)
	w.moving[p.UID] = movement{p.Namespace, p.Spec.NodeName, owner, now}
	w.evicted++
	w.hour = append(w.hour, now)
	recent := 0
	for _, at := range w.hour {
		if now.Sub(at) < time.Hour {
			recent++
		}
	}
	if recent > most {
		w.Fatalf("seed %d: %d pods were evicted within an hour, of at most %d", w.seed, recent, most)
	}
}

// holds reports whether a node lacks room for a pod of a workload.
func (w *world) holds(c evict.Cause) bool {
	for _, p := range w.objects {
		if p.Spec.NodeName == c.Node && ownerOf(p) == c.Workload && w.full[c.Node] {
			return true
		}
	}
	return false
}

// plan plans all pods, as the loop does when something changes.
func (w *world) plan() {
	rules, _ := w.cluster.Rules()
	for _, of := range w.cluster.Pods("").List() {
		w.mover.Planned(of.NamespacedName(), of, w.cluster.Planner.Plan(w.cluster.Snapshot(of, rules)))
		w.known[of.UID] = true
	}
}

// step lets time pass, changes something, and lets the leader look.
func (w *world) step() {
	clustertest.Clock(w.cluster).Step(time.Duration(w.IntN(12*60)) * time.Second)
	now := w.cluster.Clock.Now()
	for _, n := range w.nodes {
		if w.IntN(12) == 0 {
			w.full[n.Name] = !w.full[n.Name]
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(w.moving)) {
		if m := w.moving[uid]; w.IntN(3) == 0 || now.Sub(m.at) > wholeWithin/2 { // Its replacement is ready, within the hour that others wait.
			w.add(m.workload.Name)
			delete(w.moving, uid)
		}
	}
	cached := w.cluster.Pods("").List()
	slices.SortFunc(cached, cluster.ByNamespaceAndName)
	for _, of := range cached {
		switch p := w.objects[of.Name]; {
		case p == nil:
			w.forget(of)
		case w.IntN(60) == 0:
			p = p.DeepCopy()
			ready(p, !isReady(p))
			w.put(p)
		}
	}
	w.resize()
	w.plan()
	for c := range w.moved {
		switch {
		case w.holds(c):
			delete(w.gone, c)
		case w.gone[c].IsZero():
			w.gone[c] = now
		case now.Sub(w.gone[c]) >= evict.Closed:
			delete(w.moved, c)
			delete(w.gone, c)
		}
	}
	w.frozen = w.IntN(20) == 0
	w.mover.look(klog.NewContext(w.Context(), klog.Logger{}))
	if w.dead {
		w.lead()
	}
}

// TestRounds evicts pods in random worlds: leaders are killed before and after each call, budgets refuse evictions, nodes
// become full and empty, the cache is late. No cause moves two pods, no pod is the last ready one of its workload, nothing
// protected moves.
func TestRounds(t *testing.T) {
	evicted := 0
	for i := range uint64(*rounds) {
		w := newWorld(t, *seed+i)
		for range 80 {
			w.step()
		}
		evicted += w.evicted
	}
	if t.Logf("%d pods were evicted", evicted); evicted < *rounds {
		t.Errorf("only %d pods were evicted in %d rounds", evicted, *rounds)
	}
}
