package mover

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var (
	rounds = flag.Int("rounds", parts, "number of random rounds of evictions")
	seed   = flag.Uint64("seed", 0, "seed of the first round")
)

const (
	// parts is how many rounds run at the same time, each in its own namespace.
	parts = 4
	// steps is how often something changes in a round.
	steps = 20
	// roundsOfWorkloads is for how many rounds workloads exist, on average.
	roundsOfWorkloads = 8
	// everyDry is the share of rounds that are dry runs.
	everyDry = 8
)

// TestRounds evicts pods in random rounds. The API server, its budgets and the controllers of workloads are real. Leaders are
// killed before, during and after each call; connections break, also after a call took effect; others change pods and the
// book; nodes become full and empty; budgets change; the cluster is frozen; the cache is late. In a dry run, nothing at all
// happens.
func TestRounds(t *testing.T) {
	config, nodes, all := localcluster.ForTest(t, "").Config(), nodesOf(6), &tally{counts: map[string]int{}}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	createNodes(t, kubernetes.NewForConfigOrDie(config), nodes)
	t.Run("parts", func(t *testing.T) {
		for part := range parts {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				p := newPlane(t, config, fmt.Sprintf("shop-%d", part), nodes, all)
				for i := part; i < *rounds; i += parts {
					p.round(*seed + uint64(i))
				}
			})
		}
	})
	for _, what := range slices.Sorted(maps.Keys(all.counts)) {
		t.Logf("%6d %s", all.counts[what], what)
	}
	if t.Failed() {
		return
	}
	if done := all.counts["evicted"]; done < *rounds {
		t.Errorf("only %d pods were evicted in %d rounds", done, *rounds)
	}
	if *rounds < 100 {
		return
	}
	expected := []string{"refused by a budget", "would be evicted in a dry run", "answered with 404: " + evictPod, "answered with 409: " + evictPod, "answered with 409: " + storeBook}
	for _, call := range []string{readPod, readBook, storeBook, evictPod} {
		expected = append(expected, "killed before: "+call, "killed after: "+call)
	}
	for _, call := range []string{storeBook, evictPod} {
		expected = append(expected, "killed while the API server received: "+call, "lost before: "+call, "lost after: "+call)
	}
	for _, what := range expected {
		if all.counts[what] == 0 {
			t.Errorf("never in %d rounds: %s", *rounds, what)
		}
	}
}

// round is a random course of events.
type round struct {
	*plane
	*rand.Rand
	seed uint64
	dry  bool
	// cluster is the cache of the leader. It may be late.
	cluster *cluster.Cluster
	nodes   []*corev1.Node
	// full are the nodes that have no room for more, and short those that lack what their pods need.
	full, short map[string]bool
	// pods are the pods that exist, by name, and left has when pods were evicted or deleted.
	pods map[string]*corev1.Pod
	left map[types.UID]time.Time

	mover *Mover
	wire  *wire
	stop  func()
	// late are calls of leaders that were killed, which the API server has not received yet.
	late   []func()
	known  planned
	frozen bool
	// freezesAfter is after how many more calls of the leader the cluster is frozen; it is not if that is 0.
	freezesAfter int

	law
	noted []string
}

// round lets a random round pass.
func (p *plane) round(seed uint64) {
	r := &round{
		plane: p, Rand: rand.New(rand.NewPCG(seed, 39)), seed: seed, dry: seed%everyDry == parts-1, cluster: clustertest.Unread(p), nodes: nodesOf(6),
		full: map[string]bool{}, short: map[string]bool{}, pods: map[string]*corev1.Pod{}, left: map[types.UID]time.Time{}, law: newLaw(),
	}
	settle(p, r.cluster, policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: most})
	p.empty()
	r.begin()
	r.lead()
	defer func() { r.stop() }()
	for range steps {
		r.step()
	}
	r.audit()
	r.auditKept()
}

// begin lets all workloads run. Most rounds use those of the round before: to create them takes as long as the rest of a round.
func (r *round) begin() {
	if r.IntN(roundsOfWorkloads) == 0 {
		r.clear()
	}
	if len(r.services) == 0 {
		r.createSome()
	}
	r.finish()
	for _, s := range r.services {
		if s.budget {
			r.setBudget(s, r.IntN(s.pods+1), r.IntN(2) == 0)
		}
	}
	var some []*pod.Pod
	for _, of := range r.kept {
		if r.hasKept(of) {
			some = append(some, pod.From(of))
		}
	}
	if err := r.cluster.Know(some, r.nodes); err != nil {
		r.Fatal(err)
	}
	r.show(false)
}

// createSome creates workloads of random sizes.
func (r *round) createSome() {
	for i, kind := range []string{"Deployment", "Deployment", "ReplicaSet", "StatefulSet"} {
		s := &service{app: fmt.Sprintf("w%d-%d", i, r.seed), pods: 1 + r.IntN(4), grace: int64(r.IntN(2)) * 30, budget: r.IntN(4) > 0}
		s.Workload = workload.Workload{Kind: kind, Name: s.app}
		r.create(s)
		r.services = append(r.services, s)
	}
}

// finish ends what has not ended, and waits until all pods of all workloads run.
func (r *round) finish() {
	localcluster.Eventually(r, "the pods of workloads", func() error {
		for _, of := range r.list(movable) {
			switch {
			case of.DeletionTimestamp != nil:
				r.end(of)
				delete(r.pods, of.Name)
			case r.pods[of.Name] == nil && of.Spec.NodeName == "":
				r.pods[of.Name] = r.run(of, r.anyNode())
			case r.pods[of.Name] == nil:
				r.pods[of.Name] = r.report(of, true)
				if of.Annotations[evict.SafeToEvict] != "" {
					r.pin(of, false)
				}
			}
		}
		for _, s := range r.services {
			if s.changed = true; len(r.of(s)) != s.pods {
				return fmt.Errorf("%s has %d, want %d", s.app, len(r.of(s)), s.pods)
			}
		}
		return nil
	})
}

// hasKept reports whether a pod that must never move is part of the round. Not all of them are, since each is judged, which takes
// requests.
func (r *round) hasKept(p *corev1.Pod) bool {
	i := slices.Index(keptApps, p.Labels[appLabel])
	return (i+int(r.seed)*keptAtATime)%len(keptApps) < keptAtATime
}

func (r *round) anyNode() string { return r.nodes[r.IntN(len(r.nodes))].Name }

// serviceOf returns the workload of a pod; nil if the pod must never move.
func (r *round) serviceOf(p *corev1.Pod) *service {
	i := slices.IndexFunc(r.services, func(s *service) bool { return s.app == p.Labels[appLabel] })
	if i < 0 {
		return nil
	}
	return r.services[i]
}

// of returns the pods of a workload that are not being deleted.
func (r *round) of(s *service) (pods []*corev1.Pod) {
	for _, name := range slices.Sorted(maps.Keys(r.pods)) {
		if p := r.pods[name]; p.DeletionTimestamp == nil && r.serviceOf(p) == s {
			pods = append(pods, p)
		}
	}
	return pods
}

// lead starts a new leader, which knows only what is stored.
func (r *round) lead() {
	if r.stop != nil {
		r.stop()
	}
	w := &wire{round: r}
	config := rest.CopyConfig(r.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		w.next = next
		return w
	})
	client := kubernetes.NewForConfigOrDie(config)
	writer := actuate.New(actuate.Config{
		Client: kubernetes.NewForConfigOrDie(actuate.ClientConfig(config, time.Minute)), Limiter: actuate.NewLimiter(0, 0), Permit: actuate.Always,
		Clock: clock.RealClock{}, Metrics: actuate.NewMetrics(prometheus.NewRegistry()),
	})
	m := New(Config{
		Cluster: r.cluster, Planner: r.cluster.Planner, Holds: clustertest.NoHolds{}, Loop: r, Client: client, Evict: writer.Evict, Watcher: client,
		Namespace: r.namespace, Name: storeName, Headroom: r, Tell: r.told, DryRun: r.dry, Clock: r.cluster.Clock,
		OnReject: func(_ *corev1.ConfigMap, err error) { r.Errorf("seed %d: the book is rejected: %v", r.seed, err) },
	})
	ctx, cancel := context.WithCancel(klog.NewContext(r.Context(), klog.Logger{}))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.store.run(ctx)
	}()
	r.stop = func() {
		cancel()
		<-ended
	}
	localcluster.Eventually(r, "the book", func() error {
		_, err := m.store.last()
		return err
	})
	r.mover, r.wire, r.known = m, w, planned{}
	r.plan()
	for _, call := range r.late {
		call()
	}
	r.late = nil
}

// plan plans all pods, and looks at all nodes.
func (r *round) plan() {
	r.known.all(r.cluster, r.mover)
	for _, n := range r.nodes {
		r.mover.NodeChanged(n.Name)
	}
}

// Knows implements Loop.
func (r *round) Knows(of *pod.Pod) bool { return r.known[of.UID] }

// PermitEviction implements Loop.
func (r *round) PermitEviction(context.Context, *pod.Pod) error {
	if r.frozen {
		r.tally.add("frozen")
		return &actuate.StoppedError{Because: "the cluster is frozen"}
	}
	return nil
}

// CountEviction implements Loop.
func (r *round) CountEviction(workload.Group, workload.Eviction) {}

// Known implements Headroom.
func (r *round) Known() bool { return true }

// Lacks implements Headroom. On every other node, what lacks is in use.
func (r *round) Lacks(name string) (lacks node.Resources, inUse bool) {
	if r.short[name] {
		lacks.CPU = 500
	}
	return lacks, r.short[name] && name[len(name)-1]%2 == 0
}

// Rest implements Headroom.
func (r *round) Rest(of *pod.Pod, _ node.Resources) int64 {
	h := fnv.New32()
	_, _ = h.Write([]byte(of.UID))
	return int64(h.Sum32() % 4)
}

func (r *round) told(name types.NamespacedName, _ types.UID, said plan.Reason) {
	if r.dry {
		r.fatal("a dry run recorded %s of %s", said.Code, name)
	}
}

// note takes note of what happens, for the case of a failure.
func (r *round) note(format string, args ...any) {
	r.noted = append(r.noted, r.cluster.Clock.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
}

// fatal ends the test, and says what happened before.
func (r *round) fatal(format string, args ...any) {
	r.Helper()
	r.Fatalf("seed %d: %s, after\n%s", r.seed, fmt.Sprintf(format, args...), strings.Join(r.noted[max(0, len(r.noted)-150):], "\n"))
}

// step lets time pass, changes something, and lets the leader look.
func (r *round) step() {
	soon := r.IntN(3) == 0
	if soon {
		clustertest.Clock(r.cluster).Step(time.Duration(1+r.IntN(20)) * time.Second)
	} else {
		clustertest.Clock(r.cluster).Step(time.Duration(r.IntN(15*60)) * time.Second)
	}
	if r.IntN(4) == 0 || slices.ContainsFunc(r.services, func(s *service) bool { return len(r.of(s)) < s.pods }) {
		r.audit() // Each time would take long.
	}
	r.live()
	r.disturb()
	for _, s := range r.services {
		r.counted(s, r.of(s))
	}
	r.show(soon)
	r.plan()
	r.weigh(r)
	r.frozen, r.freezesAfter = r.IntN(20) == 0, 0
	if r.IntN(8) == 0 {
		r.freezesAfter = 1 + r.IntN(8)
	}
	r.mover.look(klog.NewContext(r.Context(), klog.Logger{}))
	if r.dry {
		for _, p := range r.pods {
			if strings.Contains(r.mover.Explain(pod.From(p)), "it would be evicted") {
				r.tally.add("would be evicted in a dry run")
			}
		}
	}
	if r.wire.dead {
		r.lead()
	}
}

// audit reads which pods exist. Nobody but the test and the leader ends pods.
func (r *round) audit() {
	now := map[string]*corev1.Pod{}
	for _, p := range r.list(movable) {
		now[p.Name] = p
	}
	for name, p := range r.pods {
		is := now[name]
		switch {
		case is == nil || is.UID != p.UID:
			r.fatal("%s is gone, although nobody has evicted it", name)
		case is.DeletionTimestamp != nil && p.DeletionTimestamp == nil:
			r.fatal("%s is being deleted, although nobody has evicted it", name)
		}
	}
	r.pods = now
}

// live does what schedulers and kubelets do: pods that are being deleted end, and others begin to run.
func (r *round) live() {
	for _, name := range slices.Sorted(maps.Keys(r.pods)) {
		p := r.pods[name]
		switch {
		case p.DeletionTimestamp != nil && r.IntN(2) == 0:
			r.note("%s has ended", name)
			r.end(p)
			delete(r.pods, name)
			r.serviceOf(p).changed = true
		case p.DeletionTimestamp == nil && p.Spec.NodeName == "" && r.IntN(3) == 0:
			r.pods[name] = r.run(p, r.anyNode())
			r.note("%s runs on %s", name, r.pods[name].Spec.NodeName)
			r.serviceOf(p).changed = true
		}
	}
}

// disturb changes nodes, pods and budgets.
func (r *round) disturb() {
	for _, n := range r.nodes {
		for _, state := range []map[string]bool{r.full, r.short} {
			if r.IntN(12) == 0 {
				state[n.Name] = !state[n.Name]
				r.note("%s is full: %t, short: %t", n.Name, r.full[n.Name], r.short[n.Name])
			}
		}
	}
	for _, s := range r.services {
		for _, p := range r.of(s) {
			if p.Spec.NodeName != "" && r.IntN(30) == 0 {
				r.pods[p.Name] = r.report(p, !isReady(p))
				r.note("%s is ready: %t", p.Name, !isReady(p))
				s.changed = true
			}
			if p.Annotations[evict.SafeToEvict] != "" && r.IntN(3) == 0 {
				r.pin(r.pods[p.Name], false)
			}
		}
		if s.budget && r.IntN(15) == 0 {
			r.setBudget(s, r.IntN(s.pods+1), r.IntN(2) == 0)
			r.note("the budget of %s keeps %d of %d", s.app, s.least, s.pods)
		}
	}
}

// show shows pods to the cache. It may be late, but not longer than the mover expects, with what only just ended.
func (r *round) show(late bool) {
	now := r.cluster.Clock.Now()
	hides := func(uid types.UID) bool { return late && now.Sub(r.left[uid]) < seenWithin*3/4 && r.IntN(2) == 0 }
	exist := map[types.UID]bool{}
	for _, p := range r.kept {
		exist[p.UID] = r.hasKept(p)
	}
	var seen []*pod.Pod
	for _, name := range slices.Sorted(maps.Keys(r.pods)) {
		p := r.pods[name]
		exist[p.UID] = true
		if p.DeletionTimestamp == nil || !hides(p.UID) {
			seen = append(seen, pod.From(p))
		}
	}
	for _, of := range r.cluster.Pods("").List() {
		if exist[of.UID] || hides(of.UID) {
			continue
		}
		if err := r.cluster.Forget(of); err != nil {
			r.Fatal(err)
		}
		r.mover.Planned(of.NamespacedName(), nil, nil)
	}
	if err := r.cluster.Know(seen, nil); err != nil {
		r.Fatal(err)
	}
	r.nodes = resize(r, r.cluster, r.nodes, r.full)
}

// stored returns the book as the API server has it.
func (r *round) stored() *evict.Book {
	cm, err := r.client.CoreV1().ConfigMaps(r.namespace).Get(r.Context(), storeName, metav1.GetOptions{})
	if err != nil {
		r.Fatal(err)
	}
	book, err := parse(cm.Data)
	if err != nil {
		r.Fatal(err)
	}
	return book
}
