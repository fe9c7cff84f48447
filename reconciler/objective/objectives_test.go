package objective

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
)

// prom is a Prometheus, as a function of the time in seconds.
type prom struct {
	answer func(query string, second int) ([]promql.Element, error)
	mu     sync.Mutex
	asked  []string
}

func (p *prom) query(_ context.Context, address, query string, at time.Time, take func(promql.Element)) error {
	second := int(at.Sub(podtest.Start).Seconds())
	p.mu.Lock()
	p.asked = append(p.asked, fmt.Sprintf("%s %s %d", address, query, second))
	p.mu.Unlock()
	elements, err := p.answer(query, second)
	for _, e := range elements {
		take(e)
	}
	return err
}

// changes are the pods that have to be planned again.
type changes struct{ pods []string }

func (c *changes) Changed(pod types.NamespacedName) { c.pods = append(c.pods, pod.Name) }
func (c *changes) Eased(string, ...contract.Reason) {}

// fixture is a cluster with the pods web-1-x, which was resized at second 95, and idle, which was not, at
// second 125.
type fixture struct {
	*Objectives
	prom    prom
	heard   changes
	leads   bool
	cluster *cluster.Cluster
}

// errorsAbove is the objective of all pods.
var errorsAbove = policy.Objective{Name: "errors", Prometheus: "http://p", Query: "errors", Above: new(0.5)}

func newFixture(t *testing.T, objectives ...policy.Objective) *fixture {
	t.Helper()
	layer := clustertest.Published()
	layer.Settings = keys.Some(policy.Settings{Guard: policy.Guard{Objectives: objectives}}).Over(layer.Settings)
	created := func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(podtest.Start.Add(-time.Hour))
		p.OwnerReferences[0].Name = "web-1"
	}
	f := &fixture{leads: true}
	f.cluster = clustertest.Of(t, []*corev1.Pod{
		podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "web-1-x", "b"), created, podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(95, "app"))),
		podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "idle", "b"), created, podtest.ManagedBy(podtest.AsMade)),
	}, []*corev1.Node{clustertest.Node("b", "n4", "8")})
	f.cluster.Ratios = clustertest.Store(t, layer)
	f.cluster.Serve(&f.heard, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
	f.Objectives = New(Config{Cluster: f.cluster, Query: f.prom.query, Leads: func() bool { return f.leads }, Clock: clustertest.Clock(f.cluster)})
	clustertest.Clock(f.cluster).Step(125 * time.Second)
	return f
}

// know adds a pod of the controller web-1, or changes it.
func (f *fixture) know(t *testing.T, name, kind string, created int, changes ...func(*corev1.Pod)) {
	t.Helper()
	p := podtest.Pod(podtest.Guaranteed, append([]func(*corev1.Pod){clustertest.Named("shop", name, "b"), podtest.ManagedBy(podtest.AsMade), func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(podtest.At(created))
		p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = kind, "web-1"
	}}, changes...)...)
	if err := f.cluster.Know([]*pod.Pod{pod.From(p)}, nil); err != nil {
		t.Fatal(err)
	}
}

// value returns an answer that is about web-1-x: before the resize, and since then. NaN means that there is
// no element.
func value(before, since float64) func(string, int) ([]promql.Element, error) {
	return func(_ string, second int) ([]promql.Element, error) {
		v := since
		if second < 95 {
			v = before
		}
		if math.IsNaN(v) {
			return nil, nil
		}
		return []promql.Element{{Namespace: "shop", Pod: "web-1-x", Value: v}, {Namespace: "shop", Pod: "another", Value: 99}}, nil
	}
}

// outcome returns what is known of the pod.
func (f *fixture) outcome(t *testing.T) guard.Answer {
	t.Helper()
	all := f.Of(f.cluster.Pods("shop").Get("web-1-x"))
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	return all[0]
}

func TestObjectives(t *testing.T) {
	ctx := context.Background()
	t.Run("asks for the present, and once for the time before the resize", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		f.prom.answer = value(0.1, 0.9)
		f.round(ctx)
		if got, want := f.outcome(t), (guard.Answer{Name: "errors", Before: guard.Of(0.1), Since: guard.Of(0.9)}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		clustertest.Clock(f.cluster).Step(promql.Interval)
		f.round(ctx)
		if len(f.prom.asked) == 5 {
			slices.Sort(f.prom.asked[1:4]) // In any order.
		}
		if want := []string{"http://p errors 125", "http://p errors -150", "http://p errors -30", "http://p errors 90", "http://p errors 155"}; !slices.Equal(f.prom.asked, want) {
			t.Errorf("asked %q, want %q", f.prom.asked, want)
		}
		if want := []string{"web-1-x", "web-1-x"}; !slices.Equal(f.heard.pods, want) {
			t.Errorf("planned again: %q", f.heard.pods)
		}
	})
	t.Run("the worst of some values before the resize counts", func(t *testing.T) {
		for name, tc := range map[string]struct {
			answer func(second int) float64
			want   float64
		}{
			"broken now and then": {func(second int) float64 {
				if second == -30 || second > 95 {
					return 0.9
				}
				return 0.1
			}, 0.9},
			"measured now and then": {func(second int) float64 {
				if second == 90 || second == -150 {
					return math.NaN()
				}
				return 0.9
			}, 0.9},
		} {
			f := newFixture(t, errorsAbove)
			f.prom.answer = func(_ string, second int) ([]promql.Element, error) {
				if v := tc.answer(second); !math.IsNaN(v) {
					return []promql.Element{{Namespace: "shop", Pod: "web-1-x", Value: v}}, nil
				}
				return nil, nil
			}
			if f.round(ctx); f.outcome(t).Before != guard.Of(tc.want) {
				t.Errorf("%s: %+v", name, f.outcome(t))
			}
		}
	})
	t.Run("a pod that meets its objective is not planned again", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		f.prom.answer = value(0.9, 0.1)
		if f.round(ctx); len(f.heard.pods) != 0 {
			t.Errorf("planned again: %q", f.heard.pods)
		}
	})
	t.Run("asks nothing without objectives, without a resize, on a follower, and after the window", func(t *testing.T) {
		silent := func(f *fixture) {
			t.Helper()
			f.prom.answer = value(0, 0)
			if f.round(ctx); len(f.prom.asked) != 0 || len(f.observed) != 0 {
				t.Errorf("asked %q", f.prom.asked)
			}
		}
		silent(newFixture(t))
		f := newFixture(t, errorsAbove)
		f.leads = false
		silent(f)
		f = newFixture(t, errorsAbove)
		clustertest.Clock(f.cluster).Step(5 * time.Minute)
		silent(f)
		f = newFixture(t, errorsAbove)
		if err := f.cluster.Forget(f.cluster.Pods("shop").Get("web-1-x")); err != nil {
			t.Fatal(err)
		}
		silent(f)
	})
	t.Run("the value of a workload counts for its pods, and the worst of several counts", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		f.prom.answer = func(string, int) ([]promql.Element, error) {
			return []promql.Element{{Namespace: "shop", Workload: "web-1", Value: 0.7}, {Namespace: "shop", Pod: "web-1-x", Value: 0.2}, {Namespace: "bank", Workload: "web-1", Value: 9}}, nil
		}
		f.round(ctx)
		if got := f.outcome(t).Since; got != guard.Of(0.7) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("no value before the resize is no break of an old pod, and not known of a new one", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		f.prom.answer = value(math.NaN(), 0.9)
		f.round(ctx)
		if got := f.outcome(t); !got.Before.Known || !math.IsNaN(got.Before.N) || got.Unknown != "" {
			t.Errorf("%+v", got)
		}
		young := func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(podtest.At(60)) }
		f = newFixture(t, errorsAbove)
		p := podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "web-1-x", "b"), young, podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(95, "app")))
		if err := f.cluster.Know([]*pod.Pod{pod.From(p)}, nil); err != nil {
			t.Fatal(err)
		}
		f.prom.answer = value(math.NaN(), 0.9)
		f.round(ctx)
		f.round(ctx)
		if got := f.outcome(t); got.Before.Known || !strings.Contains(got.Unknown, "new") || len(f.prom.asked) != 3 {
			t.Errorf("%+v after %q", got, f.prom.asked)
		}
	})
	t.Run("a failure is reported, and what was known of the present no longer counts", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		f.prom.answer = value(0.1, 0.9)
		f.round(ctx)
		f.prom.answer = func(string, int) ([]promql.Element, error) { return nil, errors.New("connection refused") }
		f.heard.pods = nil
		f.round(ctx)
		if got := f.outcome(t); got.Since.Known || got.Unknown != "connection refused" || got.Before != guard.Of(0.1) || len(f.heard.pods) != 0 {
			t.Errorf("%+v", got)
		}
		const metric = "# HELP workload_resizer_failing_objectives Queries of objectives that failed when they were last asked. Only the leader asks, while a pod with the objective is observed.\n" +
			"# TYPE workload_resizer_failing_objectives gauge\nworkload_resizer_failing_objectives "
		registry := prometheus.NewRegistry()
		f.Register(registry)
		if err := testutil.GatherAndCompare(registry, strings.NewReader(metric+"1\n")); err != nil {
			t.Error(err)
		}
		if err := f.Problem(); err == nil || err.Error() != "objective errors cannot be read from http://p, so nothing is reverted because of it: connection refused" {
			t.Error(err)
		}
		f.leads = false
		f.round(ctx)
		if err := f.Problem(); err != nil {
			t.Errorf("a follower says %v", err)
		}
		if err := testutil.GatherAndCompare(registry, strings.NewReader(metric+"0\n")); err != nil {
			t.Error(err)
		}
		f.leads = true
		f.prom.answer = value(0.1, 0.9)
		f.round(ctx)
		if got := f.outcome(t); !got.Since.Known || got.Unknown != "" || f.Problem() != nil {
			t.Errorf("%+v, %v", got, f.Problem())
		}
	})
	t.Run("an answer about something else is a failure", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		for _, e := range []promql.Element{{}, {Namespace: "shop"}, {Pod: "web-1-x"}} {
			f.prom.answer = func(string, int) ([]promql.Element, error) { return []promql.Element{e}, nil }
			f.round(ctx)
			if got := f.outcome(t); got.Since.Known || !strings.Contains(got.Unknown, "sum by (namespace, pod)") {
				t.Errorf("%+v: %+v", e, got)
			}
		}
	})
	t.Run("an element about something else hides no pod", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		f.prom.answer = func(_ string, second int) ([]promql.Element, error) {
			all, err := value(0.1, 0.9)("", second)
			return append(all, promql.Element{Namespace: "node-exporter", Value: 9}), err
		}
		f.round(ctx)
		if got, want := f.outcome(t), (guard.Answer{Name: "errors", Before: guard.Of(0.1), Since: guard.Of(0.9)}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
	t.Run("the workload before a new pod was created says nothing about the pod, nor does a pod that had its name", func(t *testing.T) {
		for name, tc := range map[string]struct {
			kind     string
			created  int
			element  promql.Element
			compared bool
		}{
			"its workload":             {"ReplicaSet", 60, promql.Element{Namespace: "shop", Workload: "web-1"}, false},
			"an old pod's workload":    {"ReplicaSet", -600, promql.Element{Namespace: "shop", Workload: "web-1"}, true},
			"itself":                   {"ReplicaSet", 60, promql.Element{Namespace: "shop", Pod: "web-1-x"}, true},
			"a pod with the same name": {"Other", 92, promql.Element{Namespace: "shop", Pod: "web-1-x"}, false},
			"a pod of a StatefulSet":   {"StatefulSet", 60, promql.Element{Namespace: "shop", Pod: "web-1-x"}, false},
			"an old one":               {"StatefulSet", -600, promql.Element{Namespace: "shop", Pod: "web-1-x"}, true},
		} {
			f := newFixture(t, errorsAbove)
			f.know(t, "web-1-x", tc.kind, tc.created, podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(95, "app")))
			f.prom.answer = func(_ string, second int) ([]promql.Element, error) {
				e := tc.element
				if e.Value = 0.1; second > 95 {
					e.Value = 0.9
				}
				return []promql.Element{e}, nil
			}
			f.round(ctx)
			if got := f.outcome(t); got.Before.Known != tc.compared {
				t.Errorf("%s: %+v", name, got)
			}
		}
	})
	t.Run("a workload with newer pods than the resize, as in a rollout, does not break an objective because of it", func(t *testing.T) {
		for created, blamed := range map[int]bool{-600: true, 90: false, 110: false} {
			f := newFixture(t, errorsAbove)
			f.know(t, "web-1-y", "ReplicaSet", created)
			f.prom.answer = func(_ string, second int) ([]promql.Element, error) {
				e := promql.Element{Namespace: "shop", Workload: "web-1", Value: 0.1}
				if second > 95 {
					e.Value = 0.9
				}
				return []promql.Element{e}, nil
			}
			f.round(ctx)
			if got := f.outcome(t); got.Since.Known != blamed || !blamed && !strings.Contains(got.Unknown, "newer") || len(f.heard.pods) > 0 != blamed {
				t.Errorf("created at %d: %+v, planned again: %q", created, got, f.heard.pods)
			}
			// Values of the pod itself count.
			f.prom.answer = func(string, int) ([]promql.Element, error) {
				return []promql.Element{{Namespace: "shop", Workload: "web-1", Value: 0.9}, {Namespace: "shop", Pod: "web-1-x", Value: 0.8}}, nil
			}
			f.round(ctx)
			if got := f.outcome(t); !got.Since.Known {
				t.Errorf("created at %d: %+v", created, got)
			}
		}
	})
	t.Run("a workload that got more pods like those before, as an autoscaler adds them, breaks an objective once they have started", func(t *testing.T) {
		revised := func(p *corev1.Pod) { p.Labels = map[string]string{"controller-revision-hash": "2"} }
		other := func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another" }
		for name, tc := range map[string]struct {
			seconds int
			change  func(*corev1.Pod)
			more    bool
			blamed  bool
		}{
			"it starts":                              {229, func(*corev1.Pod) {}, false, false},
			"it has started":                         {230, func(*corev1.Pod) {}, false, true},
			"it is of a later ReplicaSet":            {280, other, false, false},
			"it is of a later revision":              {280, revised, false, false},
			"it is of a later one, and not the last": {280, other, true, false},
			"another one starts":                     {231, func(*corev1.Pod) {}, true, false},
			"another one has started":                {232, func(*corev1.Pod) {}, true, true},
		} {
			f := newFixture(t, errorsAbove)
			f.know(t, "web-1-y", "ReplicaSet", 110, tc.change)
			if tc.more {
				f.know(t, "web-1-z", "ReplicaSet", 112)
			}
			clustertest.Clock(f.cluster).SetTime(podtest.At(tc.seconds))
			f.prom.answer = func(_ string, second int) ([]promql.Element, error) {
				return []promql.Element{{Namespace: "shop", Workload: "web-1", Value: map[bool]float64{false: 0.1, true: 0.9}[second > 95]}}, nil
			}
			f.round(ctx)
			if got := f.outcome(t); got.Since.Known != tc.blamed {
				t.Errorf("%s: %+v", name, got)
			}
		}
	})
	t.Run("many resizes at different times do not take longer than a round", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		for i := range 3 {
			f.know(t, fmt.Sprint("web-1-", i), "ReplicaSet", -3600, podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(5+30*i, "app")))
		}
		f.prom.answer = func(string, int) ([]promql.Element, error) {
			clustertest.Clock(f.cluster).Step(2100 * time.Millisecond)
			return nil, nil
		}
		for round := range 3 {
			began := f.Clock.Now()
			f.round(ctx)
			if took := f.Clock.Since(began); took > promql.Interval || f.Problem() != nil {
				t.Errorf("round %d took %v: %v", round, took, f.Problem())
			}
		}
		for _, p := range f.cluster.Pods("shop").List() {
			for _, got := range f.Of(p) {
				if got.Unknown != "" || !got.Before.Known {
					t.Errorf("%s: %+v", p.Name, got)
				}
			}
		}
	})
	t.Run("an invalid query makes no other query of a busy Prometheus fail", func(t *testing.T) {
		all := []policy.Objective{errorsAbove}
		for i := range 5 {
			invalid := errorsAbove
			invalid.Name, invalid.Query = fmt.Sprint("invalid-", i), fmt.Sprint("invalid ", i)
			all = append(all, invalid)
		}
		f := newFixture(t, all...)
		f.prom.answer = func(query string, second int) ([]promql.Element, error) {
			clustertest.Clock(f.cluster).Step(2 * time.Second)
			if query != "errors" {
				return nil, errors.New("parse error")
			}
			return value(0.1, 0.9)(query, second)
		}
		f.round(ctx)
		for _, out := range f.Of(f.cluster.Pods("shop").Get("web-1-x")) {
			if (out.Name == "errors") != out.Since.Known || out.Name != "errors" && out.Unknown != "parse error" {
				t.Errorf("%+v", out)
			}
		}
	})
	t.Run("a slow Prometheus delays neither others nor the next round", func(t *testing.T) {
		all := []policy.Objective{errorsAbove}
		for i := range 9 {
			slow := errorsAbove
			slow.Name, slow.Query, slow.Prometheus = fmt.Sprint("slow-", i), fmt.Sprint("slow ", i), "http://slow"
			all = append(all, slow)
		}
		f := newFixture(t, all...)
		began, asked := f.Clock.Now(), make(chan bool)
		var once, release sync.Once
		f.prom.answer = func(query string, second int) ([]promql.Element, error) {
			if query == "errors" {
				release.Do(func() { close(asked) })
			} else {
				once.Do(func() {
					select {
					case <-asked:
					case <-time.After(10 * time.Second):
						t.Error("the other one is not asked")
					}
				})
				clustertest.Clock(f.cluster).Step(patience - time.Second)
			}
			return value(0.1, 0.9)(query, second)
		}
		f.round(ctx)
		if took := f.Clock.Since(began); took > promql.Interval {
			t.Errorf("the round took %v", took)
		}
		late := 0
		for _, out := range f.Of(f.cluster.Pods("shop").Get("web-1-x")) {
			if !out.Since.Known && strings.Contains(out.Unknown, "other queries") {
				late++
			} else if !out.Since.Known {
				t.Errorf("%+v", out)
			}
		}
		if late < 4 {
			t.Errorf("%d are late", late)
		}
	})
	t.Run("a second resize is compared with the time before the first while that is observed", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		f.prom.answer = value(0.1, 0.9)
		f.round(ctx)
		again := podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "web-1-x", "b"), podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(130, "app")))
		if err := f.cluster.Know([]*pod.Pod{pod.From(again)}, nil); err != nil {
			t.Fatal(err)
		}
		if got := f.Of(f.cluster.Pods("shop").Get("web-1-x")); len(got) != 0 {
			t.Errorf("%+v is of the time before the second resize", got)
		}
		clustertest.Clock(f.cluster).Step(promql.Interval)
		f.prom.asked = nil
		f.round(ctx)
		if got := f.outcome(t); got.Before != guard.Of(0.1) || len(f.prom.asked) != 1 {
			t.Errorf("%+v after %q", got, f.prom.asked)
		}
	})
	t.Run("a Prometheus that does not answer is asked once a round", func(t *testing.T) {
		second := errorsAbove
		second.Name, second.Query = "latency", "latency"
		f := newFixture(t, errorsAbove, second)
		f.prom.answer = func(string, int) ([]promql.Element, error) {
			clustertest.Clock(f.cluster).Step(patience)
			return nil, context.DeadlineExceeded
		}
		f.round(ctx)
		all := f.Of(f.cluster.Pods("shop").Get("web-1-x"))
		if len(f.prom.asked) != 1 || len(all) != 2 || all[0].Unknown == "" || all[1].Unknown == "" {
			t.Errorf("asked %q, know %+v", f.prom.asked, all)
		}
	})
	t.Run("a changed query begins again", func(t *testing.T) {
		f := newFixture(t, errorsAbove)
		f.prom.answer = value(0.1, 0.9)
		f.round(ctx)
		changed := errorsAbove
		changed.Query = "other"
		layer := clustertest.Published()
		layer.Settings = keys.Some(policy.Settings{Guard: policy.Guard{Objectives: []policy.Objective{changed}}}).Over(layer.Settings)
		f.cluster.Ratios = clustertest.Store(t, layer)
		f.prom.asked = nil
		f.round(ctx)
		if want := "http://p other 90"; len(f.prom.asked) != 4 || !slices.Contains(f.prom.asked, want) {
			t.Errorf("asked %q, want %q", f.prom.asked, want)
		}
	})
}
