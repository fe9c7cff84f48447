package objective

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// prom is a Prometheus, as a function of the time in seconds.
type prom struct {
	answer func(query string, second int) ([]Element, error)
	asked  []string
}

func (p *prom) query(_ context.Context, address, query string, at time.Time) ([]Element, error) {
	second := int(at.Sub(podtest.Start).Seconds())
	p.asked = append(p.asked, fmt.Sprintf("%s %s %d", address, query, second))
	return p.answer(query, second)
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
var errorsAbove = ratios.Objective{Name: "errors", Prometheus: "http://p", Query: "errors", Above: new(0.5)}

func newFixture(t *testing.T, objectives ...ratios.Objective) *fixture {
	t.Helper()
	layer := clustertest.Published()
	layer.Guard.Objectives = objectives
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

// value returns an answer that is about web-1-x: before the resize, and since then. NaN means that there is
// no element.
func value(before, since float64) func(string, int) ([]Element, error) {
	return func(_ string, second int) ([]Element, error) {
		v := since
		if second < 95 {
			v = before
		}
		if math.IsNaN(v) {
			return nil, nil
		}
		return []Element{{map[string]string{"namespace": "shop", "pod": "web-1-x"}, v}, {map[string]string{"namespace": "shop", "pod": "another"}, 99}}, nil
	}
}

// outcome returns what is known of the pod.
func (f *fixture) outcome(t *testing.T) guard.Outcome {
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
		if got, want := f.outcome(t), (guard.Outcome{Name: "errors", Before: guard.Of(0.1), Since: guard.Of(0.9)}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		clustertest.Clock(f.cluster).Step(interval)
		f.round(ctx)
		if want := []string{"http://p errors 125", "http://p errors 90", "http://p errors 155"}; !slices.Equal(f.prom.asked, want) {
			t.Errorf("asked %q, want %q", f.prom.asked, want)
		}
		if want := []string{"web-1-x", "web-1-x"}; !slices.Equal(f.heard.pods, want) {
			t.Errorf("planned again: %q", f.heard.pods)
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
		f.prom.answer = func(string, int) ([]Element, error) {
			return []Element{{map[string]string{"namespace": "shop", "workload": "web-1"}, 0.7}, {map[string]string{"namespace": "shop", "pod": "web-1-x"}, 0.2}, {map[string]string{"namespace": "bank", "workload": "web-1"}, 9}}, nil
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
		f.prom.answer = func(string, int) ([]Element, error) { return nil, errors.New("connection refused") }
		f.heard.pods = nil
		f.round(ctx)
		if got := f.outcome(t); got.Since.Known || got.Unknown != "connection refused" || got.Before != guard.Of(0.1) || len(f.heard.pods) != 0 {
			t.Errorf("%+v", got)
		}
		if err := f.Problem(); err == nil || err.Error() != "objective errors cannot be read from http://p, so nothing is reverted because of it: connection refused" {
			t.Error(err)
		}
		f.leads = false
		f.round(ctx)
		if err := f.Problem(); err != nil {
			t.Errorf("a follower says %v", err)
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
		for _, labels := range []map[string]string{{}, {"namespace": "shop"}, {"pod": "web-1-x"}} {
			f.prom.answer = func(string, int) ([]Element, error) { return []Element{{labels, 1}}, nil }
			f.round(ctx)
			if got := f.outcome(t); got.Since.Known || !strings.Contains(got.Unknown, "sum by (namespace, pod)") {
				t.Errorf("%v: %+v", labels, got)
			}
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
		clustertest.Clock(f.cluster).Step(interval)
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
		f.prom.answer = func(string, int) ([]Element, error) {
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
		layer.Guard.Objectives = []ratios.Objective{changed}
		f.cluster.Ratios = clustertest.Store(t, layer)
		f.prom.asked = nil
		f.round(ctx)
		if want := []string{"http://p other 125", "http://p other 90"}; !slices.Equal(f.prom.asked, want) {
			t.Errorf("asked %q, want %q", f.prom.asked, want)
		}
	})
}
