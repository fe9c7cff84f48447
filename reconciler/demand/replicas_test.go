package demand

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/compare"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
)

// replica is a fixture whose keeper runs.
type replica struct {
	*fixture
	stop func()
}

// newReplica returns a replica that keeps its state in a namespace of a real API server, but does
// nothing else by itself.
func newReplica(t *testing.T, namespace *localcluster.Namespace, leads bool) *replica {
	return runReplica(t, namespace, leads, func(ctx context.Context, f *fixture) {
		f.Keeper.Run(ctx, f.store, func() bool { return f.leads })
	})
}

// runReplica is like newReplica, but the replica does what run does.
func runReplica(t *testing.T, namespace *localcluster.Namespace, leads bool, run func(context.Context, *fixture)) *replica {
	t.Helper()
	f := newFixture(t, clustertest.Published(), sinceYesterday)
	f.twice(t)
	f.leads, f.Comparisons = leads, compare.New(time.Minute)
	f.Keeper = checkpoint.New(checkpoint.Config{
		Client: kubernetes.NewForConfigOrDie(namespace.Config()).CoreV1(), Namespace: namespace.Name, Prefix: "usage-",
		Labels: map[string]string{"app.kubernetes.io/name": "workload-resizer"}, FieldManager: "workload-resizer",
		Interval: time.Second, Clock: clock.RealClock{}, Companion: f.Comparisons,
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, f)
	}()
	r := &replica{fixture: f, stop: func() { cancel(); <-ended }}
	t.Cleanup(r.stop)
	return r
}

// sinceYesterday makes a pod have been ready for a day.
func sinceYesterday(p *corev1.Pod) {
	at := metav1.NewTime(podtest.Start.Add(-24 * time.Hour))
	p.Status.StartTime = &at
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", Ready: true}}
}

// twice runs each pod of a fixture on two nodes of its type, in one zone.
func (f *fixture) twice(t *testing.T) {
	t.Helper()
	var pods []*pod.Pod
	var nodes []*corev1.Node
	for _, p := range f.source.pods {
		again := p.DeepCopy()
		clustertest.Named("shop", p.Name+"-2", p.Spec.NodeName+"-2")(again)
		pods, f.source.pods = append(pods, pod.From(again)), append(f.source.pods, again)
		f.source.cpu[again.Name] = f.source.cpu[p.Name]
		for _, name := range []string{p.Spec.NodeName, again.Spec.NodeName} {
			n := clustertest.Node(name, map[string]string{"a": "n2d", "b": "n4"}[p.Spec.NodeName], "8")
			n.Labels[corev1.LabelTopologyZone], n.Labels[nodetype.LabelOwnCPUModel] = "europe-west1-b", "milan"
			n.Status.Capacity = n.Status.Allocatable
			nodes = append(nodes, n)
		}
	}
	if err := f.of.Know(pods, nodes); err != nil {
		t.Fatal(err)
	}
}

// differs returns by how much n4 differs from n2d in the evidence of a replica, and whether that is known.
func (r *replica) differs() (by float64, known bool) {
	e := r.Comparisons.Evidence()
	w := e.Workloads[compare.KeyOf("shop", "Deployment", "web")]
	if w == nil || len(w.Cells) != 1 || len(e.Nodes) != 4 {
		return 0, false
	}
	by = w.Cells[0].Like.Mean
	if e.Types[w.Cells[0].A] == "n4" {
		by = -by
	}
	return by, true
}

// last returns the last hour in which the types were compared.
func (r *replica) last() int64 {
	if w := r.Comparisons.Evidence().Workloads[compare.KeyOf("shop", "Deployment", "web")]; w != nil && len(w.Cells) == 1 {
		return w.Cells[0].Seen
	}
	return 0
}

// TestEvidence lets a leader compare what pods use in an hour: others, and the next leader, know what follows from that.
func TestEvidence(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	first := newReplica(t, namespace, true)
	localcluster.Eventually(t, "the first leader to know that nothing is stored", func() error { return first.Comparisons.Missing() })
	for range 60 + 60 + 11 {
		clustertest.Clock(first.of).Step(time.Minute)
		first.round(t)
	}
	want, known := first.differs()
	e := first.Comparisons.Evidence()
	if !known || math.Abs(want-math.Log(0.8)) > 1e-3 || !slices.Equal(e.Models, []string{"milan"}) || !slices.Equal(e.Zones, []string{"europe-west1-b"}) {
		t.Fatalf("n4 differs by %v (%t), models %v, zones %v", want, known, e.Models, e.Zones)
	}
	for name, leads := range map[string]bool{"another replica": false, "the next leader": true} {
		r := newReplica(t, namespace, leads)
		if err := r.Comparisons.Missing(); err == nil {
			t.Errorf("%s knows everything before it has read anything", name)
		}
		localcluster.Eventually(t, name+" to know the evidence", func() error {
			r.publish(t.Context())
			if by, known := r.differs(); !known || math.Abs(by-want) > 1e-3 || r.Comparisons.Missing() != nil {
				return fmt.Errorf("n4 differs by %v (%t), %w", by, known, r.Comparisons.Missing())
			}
			return nil
		})
	}
	// When another replica leads, which may store more, it forgets the hour.
	for range 49 {
		clustertest.Clock(first.of).Step(time.Minute)
		first.round(t)
	}
	before := first.last()
	first.leads, first.source.pods = false, nil
	first.publish(t.Context())
	if _, known := first.differs(); !known {
		t.Error("who does not lead has lost the evidence")
	}
	first.leads = true
	for range 15 {
		clustertest.Clock(first.of).Step(time.Minute)
		first.round(t)
	}
	if last := first.last(); last != before || last == 0 {
		t.Errorf("the last hour that counts is %d, want %d", last, before)
	}
}

// awaits waits until a replica needs what another one does.
func (r *replica) awaits(t *testing.T, want *usage.Table) {
	t.Helper()
	key := usage.Key{Container: app}
	target, known := want.Demand(key)
	if !known {
		t.Fatal("nothing to wait for")
	}
	localcluster.Eventually(t, "the state of the leader", func() error {
		r.publish(t.Context())
		if got, _ := r.Table().Demand(key); got.Target != target.Target {
			return fmt.Errorf("%+v, want %+v", got.Target, target.Target)
		}
		return nil
	})
}

func TestReplicas(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	first := newReplica(t, namespace, true)
	localcluster.Eventually(t, "the first leader to know that nothing is stored", func() error {
		if !first.Collects() {
			return fmt.Errorf("%+v", first.Keeper.Status())
		}
		return nil
	})
	first.round(t)
	follower := newReplica(t, namespace, false)
	follower.awaits(t, first.Table())
	showsWhatItReads(t, namespace, first.Table())
	first.stop()

	second := newReplica(t, namespace, true)
	localcluster.Eventually(t, "the new leader to know what is stored", func() error {
		if !second.Collects() {
			return fmt.Errorf("%+v", second.Keeper.Status())
		}
		return nil
	})
	second.awaits(t, first.Table())
	read := second.Sources()[0].Read
	if !read.Equal(first.Sources()[0].Read) {
		t.Errorf("the new leader continues at %v, the first one was at %v", read, first.Sources()[0].Read)
	}
	second.round(t)
	if s := second.Sources()[0]; s.Rejected != 0 || s.Counted > 8 {
		t.Errorf("counted again: %+v", s)
	}
	if before, after := first.target(t, ""), second.target(t, ""); before != after {
		t.Errorf("%+v, before the new leader %+v", after, before)
	}
}

// showsWhatItReads checks that a new replica shows what is stored once it has read that: the clock with
// which it publishes stands still.
func showsWhatItReads(t *testing.T, namespace *localcluster.Namespace, want *usage.Table) {
	t.Helper()
	r := runReplica(t, namespace, false, func(ctx context.Context, f *fixture) { f.Run(ctx) })
	defer r.stop()
	localcluster.Eventually(t, "recommendations of a new replica", func() error {
		if got := r.Table().Len(); got != want.Len() {
			return fmt.Errorf("%d, want %d", got, want.Len())
		}
		return nil
	})
}

// TestCompared checks which pods are compared with others of their workload.
func TestCompared(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	for kind, want := range map[string]bool{"ReplicaSet": true, "StatefulSet": true, "DaemonSet": false, "Job": false} {
		p := podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) {
			p.Labels = map[string]string{DefaultJobLabel: "import"}
			p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = kind, "import"
		})
		if key, compared := f.keyOf(pod.From(p)); compared != want || want && key != compare.KeyOf("default", kind, "import") {
			t.Errorf("%s: %t, key %v", kind, compared, key)
		}
	}
	if _, compared := f.keyOf(pod.From(podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) { p.OwnerReferences = nil }))); compared {
		t.Error("a pod without a workload is compared")
	}
}

// compared returns what is known of a workload after an hour in which all of its pods used a core, under the settings of work. Those on n4 did
// 1.25 times as much work, if it is known how much. The clock is ahead of podtest.Start by 131 minutes then.
func compared(t *testing.T, settings policy.Work, known bool, changes ...func(*corev1.Pod)) *evidence.Workload {
	t.Helper()
	layer := clustertest.Published()
	layer.Settings = keys.Some(policy.Settings{Work: settings}).Over(layer.Settings)
	f := newFixture(t, layer, append(changes, sinceYesterday)...)
	for name := range f.source.cpu {
		f.source.cpu[name] = 1000
	}
	f.twice(t)
	f.Comparisons = compare.New(time.Minute)
	f.Comparisons.Read(nil)
	f.Work = func(of *pod.Pod, by *policy.Work, hour int64) float64 {
		if *by != settings || !by.Counts() {
			t.Errorf("asked for %+v, want %+v", by, settings)
		}
		if first := podtest.Start.Unix() / 3600; hour != first && hour != first+1 || !known {
			return 0
		}
		return map[string]float64{"web-1-x": 40, "web-1-x-2": 40, "web-1-y": 50, "web-1-y-2": 50}[of.Name]
	}
	for range 60 + 60 + 11 {
		clustertest.Clock(f.of).Step(time.Minute)
		f.round(t)
	}
	return f.Comparisons.Evidence().Workloads[compare.KeyOf("shop", "Deployment", "web")]
}

// by returns by how much the logarithms for n4 and n2d differ, whichever type was seen first.
func by(w *evidence.Workload) float64 {
	if w == nil || len(w.Cells) != 1 {
		return math.NaN()
	}
	return math.Abs(w.Cells[0].Like.Mean)
}

func TestWork(t *testing.T) {
	counts := policy.Work{Prometheus: "http://p", Query: "requests"}
	if w := compared(t, counts, true); math.Abs(by(w)-math.Log(1.25)) > 1e-6 || !w.Known || w.Pulls {
		t.Errorf("with work: %+v", w)
	}
	if w := compared(t, counts, false); by(w) > 1e-6 || w.Known {
		t.Errorf("while it is not known: %+v", w)
	}
	if w := compared(t, policy.Work{Pulls: true}, true); by(w) > 1e-6 || w.Known || !w.Pulls {
		t.Errorf("of a workload that pulls: %+v", w)
	}
}

// TestNearLimits checks that pods do not count that a limit may have throttled, if no source counts that.
func TestNearLimits(t *testing.T) {
	for limit, want := range map[string]bool{"": true, "1300m": true, "1200m": false} {
		w := compared(t, policy.Work{}, false, func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = podtest.Amounts{"1", limit, "1Gi", ""}.Requirements()
		})
		if counts := !math.IsNaN(by(w)); counts != want {
			t.Errorf("limit %q: it counts: %t", limit, counts)
		}
	}
}

// run adds the pods of a workload to the cluster of a fixture, with these labels.
func (f *fixture) run(t *testing.T, namespace, kind, name string, pods int, labels map[string]string) {
	t.Helper()
	var all []*pod.Pod
	for i := range pods {
		all = append(all, pod.From(podtest.Pod(podtest.Guaranteed, clustertest.Named(namespace, fmt.Sprint(name, "-", i), "a"), func(p *corev1.Pod) {
			p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name, p.Labels = kind, name, maps.Clone(labels)
			if labels != nil {
				p.Labels["statefulset.kubernetes.io/pod-name"] = p.Name
			}
		})))
	}
	if err := f.of.Know(all, nil); err != nil {
		t.Fatal(err)
	}
}

// everything sees all namespaces.
func everything(namespaces ...string) ([]string, error) { return namespaces, nil }

// keysOf returns the keys of StatefulSets, given their namespaces and names.
func keysOf(of ...[2]string) (all []evidence.Key) {
	for _, w := range of {
		all = append(all, compare.KeyOf(w[0], "StatefulSet", w[1]))
	}
	return all
}

// TestNamesOfCompared checks that the keys of the evidence lead to workloads that exist, and which labels tell their pods from others.
func TestNamesOfCompared(t *testing.T) {
	for name, tc := range map[string]struct {
		labels, others map[string]string
		want           label
	}{
		"the usual label":                       {map[string]string{"app": "db", "app.kubernetes.io/name": "db"}, map[string]string{"app": "web"}, label{"app.kubernetes.io/name", "db"}},
		"another one if others share that":      {map[string]string{"app": "db", "app.kubernetes.io/name": "db"}, map[string]string{"app.kubernetes.io/name": "db"}, label{"app", "db"}},
		"any label with its name":               {map[string]string{"example.com/service": "db", "version": "1"}, nil, label{"example.com/service", "db"}},
		"none that passes":                      {map[string]string{"version": "1", "pod-template-hash": "db"}, nil, label{}},
		"none if others have all of its labels": {map[string]string{"app": "db"}, map[string]string{"app": "db", "more": "1"}, label{}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, clustertest.Published())
			f.run(t, "bank", "StatefulSet", "db", 2, tc.labels)
			f.run(t, "bank", "DaemonSet", "other", 1, tc.others)
			f.run(t, "elsewhere", "StatefulSet", "db", 1, tc.labels)
			key := keysOf([2]string{"bank", "db"})[0]
			got, err := f.Compared([]evidence.Key{key}, everything)
			if err != nil || len(got) != 1 {
				t.Fatalf("%v, %v", got, err)
			}
			c := got[key]
			if c.Namespace != "bank" || c.Kind != "StatefulSet" || c.Name != "db" || c.Pod.NamespacedName().Name != "db-0" || (label{c.Key, c.Value}) != tc.want || c.Alone {
				t.Errorf("%+v, want %+v", c, tc.want)
			}
		})
	}
	t.Run("no label that only some of its pods have", func(t *testing.T) {
		f := newFixture(t, clustertest.Published())
		f.run(t, "bank", "StatefulSet", "db", 1, map[string]string{"app": "db"})
		before, err := f.Compared(keysOf([2]string{"bank", "db"}), everything)
		if err != nil || before[keysOf([2]string{"bank", "db"})[0]].Key != "app" {
			t.Fatalf("%v, %v", before, err)
		}
		f.run(t, "bank", "StatefulSet", "db", 3, nil)
		f.run(t, "bank", "StatefulSet", "db", 2, map[string]string{"app": "db"})
		after, err := f.Compared(keysOf([2]string{"bank", "db"}), everything)
		if c := after[keysOf([2]string{"bank", "db"})[0]]; err != nil || c.Key != "" || !c.Alone {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// TestComparedAreVisible checks that nobody learns of workloads in namespaces that they cannot see, nor of those that are gone or not compared.
func TestComparedAreVisible(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.run(t, "bank", "StatefulSet", "db", 1, map[string]string{"app": "db"})
	f.run(t, "shop", "StatefulSet", "db", 1, map[string]string{"app": "db"})
	f.run(t, "other", "StatefulSet", "db", 1, nil)
	asked := keysOf([2]string{"bank", "db"}, [2]string{"shop", "db"}, [2]string{"shop", "gone"}, [2]string{"bank", "agent"})
	got, err := f.Compared(asked, func(namespaces ...string) ([]string, error) {
		if !slices.Equal(namespaces, []string{"bank", "shop"}) {
			t.Errorf("asked about %q", namespaces)
		}
		return []string{"shop"}, nil
	})
	if err != nil || len(got) != 1 || got[asked[1]] == nil {
		t.Errorf("%v, %v", got, err)
	}
	unknown := errors.New("not now")
	if _, err := f.Compared(asked, func(...string) ([]string, error) { return nil, unknown }); !errors.Is(err, unknown) {
		t.Errorf("%v", err)
	}
	if got, err := f.Compared(nil, func(...string) ([]string, error) { return nil, unknown }); len(got) > 0 || err != nil {
		t.Errorf("of no keys: %v, %v", got, err)
	}
}
