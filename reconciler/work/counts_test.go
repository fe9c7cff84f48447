package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
)

// prom is a Prometheus: its answer depends on the query and on the minute of the hour.
type prom struct {
	answer func(query string, minute int) ([]promql.Element, error)
	mu     sync.Mutex
	asked  []string
}

func (p *prom) query(_ context.Context, address, query string, at time.Time, take func(promql.Element)) error {
	minute := int(at.Sub(podtest.Start) / time.Minute)
	p.mu.Lock()
	p.asked = append(p.asked, fmt.Sprintf("%s %s %d", address, query, minute))
	p.mu.Unlock()
	elements, err := p.answer(query, minute)
	for _, e := range elements {
		take(e)
	}
	return err
}

// times returns how many queries there were since the last call.
func (p *prom) times() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.asked = nil }()
	return len(p.asked)
}

// fixture is a cluster with a pod in each of the namespaces shop, whose rule counts requests, bank, whose rule counts payments, and idle, whose
// rule counts nothing. The hour that ends an hour after podtest.Start is asked about.
type fixture struct {
	*Counts
	prom    prom
	leads   bool
	cluster *cluster.Cluster
}

var (
	requests = policy.Work{Prometheus: "http://p", Query: "requests"}
	payments = policy.Work{Prometheus: "http://p", Query: "payments"}
)

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{leads: true}
	created := func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(podtest.Start.Add(-time.Hour)) }
	var pods []*corev1.Pod
	for _, namespace := range []string{"shop", "bank", "idle"} {
		pods = append(pods, podtest.Pod(podtest.Guaranteed, clustertest.Named(namespace, "web-0", "b"), created))
	}
	f.cluster = clustertest.Of(t, pods, []*corev1.Node{clustertest.Node("b", "n4", "8")})
	f.configure(t, map[string]policy.Work{"shop": requests, "bank": payments})
	f.prom.answer = func(query string, minute int) ([]promql.Element, error) {
		return []promql.Element{{Namespace: "shop", Pod: "web-0", Value: float64(minute)}, {Namespace: "bank", Pod: "web-0", Value: 7}, {Namespace: "idle", Pod: "web-0", Value: 9}, {Namespace: "gone", Pod: "web-0", Value: 9}}, nil
	}
	f.Counts = New(Config{Cluster: f.cluster, Query: f.prom.query, Leads: func() bool { return f.leads }, Clock: clustertest.Clock(f.cluster)})
	f.at(time.Hour + settled)
	return f
}

// configure gives namespaces rules that count work.
func (f *fixture) configure(t *testing.T, rules map[string]policy.Work) {
	t.Helper()
	layer := clustertest.Published()
	for _, namespace := range slices.Sorted(maps.Keys(rules)) {
		layer.Rules = append(layer.Rules, ratios.Rule{Name: namespace, Match: policy.Criteria{Namespace: namespace}, Settings: keys.Some(policy.Settings{Work: rules[namespace]})})
	}
	f.cluster.Ratios = clustertest.Store(t, layer)
}

// at sets the clock to a time after podtest.Start.
func (f *fixture) at(after time.Duration) {
	clustertest.Clock(f.cluster).SetTime(podtest.Start.Add(after))
}

// of returns how much work the pod in a namespace did in the hour, by what counts it.
func (f *fixture) of(namespace string, by policy.Work) float64 {
	return f.Of(f.cluster.Pods(namespace).Get("web-0"), &by, podtest.Start.Unix()/3600)
}

func TestCounts(t *testing.T) {
	t.Run("the work of an hour is the mean of what it is at 12 times", theWorkOfAnHourIsTheMeanOfWhatItIsAt12Times)
	t.Run("an answer counts only for pods of the rules that ask", anAnswerCountsOnlyForPodsOfTheRulesThatAsk)
	t.Run("a pod may be missing at a third of the times", aPodMayBeMissingAtAThirdOfTheTimes)
	t.Run("what fails is asked again, until it would be late", whatFailsIsAskedAgainUntilItWouldBeLate)
	t.Run("says which query is wrong, and why", saysWhichQueryIsWrongAndWhy)
	t.Run("a slow Prometheus holds up no other", aSlowPrometheusHoldsUpNoOther)
	t.Run("a slow query keeps no other from being asked", aSlowQueryKeepsNoOtherFromBeingAsked)
	t.Run("a time that fails keeps no other from being asked", aTimeThatFailsKeepsNoOtherFromBeingAsked)
	t.Run("only the leader asks, and only after an hour", onlyTheLeaderAsksAndOnlyAfterAnHour)
	t.Run("nothing counts by another query", nothingCountsByAnotherQuery)
}

func theWorkOfAnHourIsTheMeanOfWhatItIsAt12Times(t *testing.T) {
	f := newFixture(t)
	if n := f.of("shop", requests); n != 0 {
		t.Errorf("%v before anything was asked", n)
	}
	f.round(t.Context())
	if n := f.of("shop", requests); n != 32.5 { // The mean of 5, 10, … 60.
		t.Errorf("%v", n)
	}
	slices.Sort(f.prom.asked)
	if want := "http://p requests 5"; len(f.prom.asked) != 24 || !slices.Contains(f.prom.asked, want) || !slices.Contains(f.prom.asked, "http://p requests 60") || slices.Contains(f.prom.asked, "http://p requests 65") {
		t.Errorf("%q", f.prom.asked)
	}
	pod := f.cluster.Pods("shop").Get("web-0")
	for _, other := range []int64{-1, 1} {
		if n := f.Of(pod, &requests, podtest.Start.Unix()/3600+other); n != 0 {
			t.Errorf("%v in an hour of which nothing was asked", n)
		}
	}
	f.prom.times()
	f.round(t.Context())
	if n := f.prom.times(); n != 0 {
		t.Errorf("%d queries after everything was answered", n)
	}
	f.at(2*time.Hour + settled)
	f.round(t.Context())
	if n := f.prom.times(); n != 24 || f.of("shop", requests) != 0 {
		t.Errorf("%d queries an hour later, and %v of the hour before", n, f.of("shop", requests))
	}
	if n := (*Counts)(nil).Of(pod, &requests, 1); n != 0 || (*Counts)(nil).Problem() != nil {
		t.Error("something that is nil knows something")
	}
}

func anAnswerCountsOnlyForPodsOfTheRulesThatAsk(t *testing.T) {
	f := newFixture(t)
	f.prom.answer = func(query string, _ int) ([]promql.Element, error) {
		// Each team writes series about the pods of the other one, too.
		own, other := map[string]string{"requests": "shop", "payments": "bank"}[query], map[string]string{"requests": "bank", "payments": "shop"}[query]
		return []promql.Element{
			{Namespace: own, Pod: "web-0", Value: 1}, {Namespace: own, Pod: "web-0", Value: 2}, {Namespace: other, Pod: "web-0", Value: 1000},
			{Namespace: own, Workload: "web", Value: 500}, {Pod: "web-0", Value: 500}, {Namespace: "idle", Pod: "web-0", Value: 500},
		}, nil
	}
	f.round(t.Context())
	for namespace, by := range map[string]policy.Work{"shop": requests, "bank": payments} {
		if n := f.of(namespace, by); n != 3 {
			t.Errorf("%s: %v, want the sum of its elements", namespace, n)
		}
	}
	if n := f.of("idle", requests); n != 0 || len(f.last.counts) != 2 {
		t.Errorf("a pod whose rule counts nothing has %v; %d pods are kept", n, len(f.last.counts))
	}
	if err := f.Problem(); err != nil {
		t.Error(err)
	}
}

func aPodMayBeMissingAtAThirdOfTheTimes(t *testing.T) {
	for name, value := range map[string]float64{"without an element": math.NaN(), "an infinite value": math.Inf(1), "a negative value": -1} {
		for missing, want := range map[int]float64{0: 3, 4: 3, 5: 0, 12: 0} {
			f := newFixture(t)
			f.prom.answer = func(_ string, minute int) ([]promql.Element, error) {
				is := promql.Element{Namespace: "shop", Pod: "web-0", Value: 3}
				if minute <= 5*missing {
					if name == "without an element" {
						return []promql.Element{{Namespace: "shop", Pod: "another", Value: 3}}, nil
					}
					is.Value = value
				}
				return []promql.Element{is}, nil
			}
			f.round(t.Context())
			if n := f.of("shop", requests); n != want {
				t.Errorf("%s at %d times: %v, want %v", name, missing, n, want)
			}
		}
	}
}

func whatFailsIsAskedAgainUntilItWouldBeLate(t *testing.T) {
	f := newFixture(t)
	good := f.prom.answer
	f.prom.answer = func(query string, minute int) ([]promql.Element, error) {
		if query == "requests" && minute > 20 {
			return nil, errors.New("down\nfor now")
		}
		return good(query, minute)
	}
	f.round(t.Context())
	want := "work.query of shop cannot be read from http://p, so hours of its pods do not count for ratios from production: down for now"
	if n := failing(t, f.Counts); n != 1 {
		t.Errorf("the metric is %v", n)
	}
	if err := f.Problem(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if n, m := f.of("shop", requests), f.of("bank", payments); n != 0 || m != 7 {
		t.Errorf("%v of a query that failed, %v of another one", n, m)
	}
	f.prom.times()
	f.prom.answer = good
	f.at(time.Hour + over)
	f.round(t.Context())
	if n, asked := f.of("shop", requests), f.prom.times(); n != 32.5 || asked != 8 || f.Problem() != nil || failing(t, f.Counts) != 0 {
		t.Errorf("%v after %d queries, %v", n, asked, f.Problem())
	}
	late := newFixture(t)
	late.at(time.Hour + over + time.Second)
	late.round(t.Context())
	if n := late.prom.times(); n != 0 {
		t.Errorf("%d queries that would be late", n)
	}
}

func saysWhichQueryIsWrongAndWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		elements []promql.Element
		want     string
		queries  int
	}{
		"no labels":      {[]promql.Element{{Value: 3}, {Namespace: "shop", Workload: "web", Value: 3}}, "no element has the labels namespace and pod: aggregate by them", 1},
		"other pods":     {[]promql.Element{{Namespace: "shop", Pod: "other", Value: 3}}, "no answer has an element for any pod of its rules", 12},
		"nothing at all": {nil, "no answer has an element for any pod of its rules", 12},
	} {
		f := newFixture(t)
		f.configure(t, map[string]policy.Work{"shop": requests})
		f.prom.answer = func(string, int) ([]promql.Element, error) { return tc.elements, nil }
		for range 2 { // It stays a problem.
			f.round(t.Context())
			if err := f.Problem(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := f.prom.times(); n > 2*tc.queries {
			t.Errorf("%s: %d queries", name, n)
		}
		f.configure(t, nil)
		f.round(t.Context())
		if err := f.Problem(); err != nil || f.last != nil {
			t.Errorf("%s: without rules: %v", name, err)
		}
	}
}

func aSlowPrometheusHoldsUpNoOther(t *testing.T) {
	f := newFixture(t)
	f.configure(t, map[string]policy.Work{
		"shop": {Prometheus: "http://slow", Query: "requests"}, "idle": {Prometheus: "http://slow", Query: "other"}, "bank": payments,
	})
	good := f.prom.answer
	f.prom.answer = func(query string, minute int) ([]promql.Element, error) {
		if query == "requests" || query == "other" {
			clustertest.Clock(f.cluster).Step(patience)
			return nil, context.DeadlineExceeded
		}
		return good(query, minute)
	}
	f.round(t.Context())
	if err := f.Problem(); err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), "must answer each query within 10s, and all of an hour until 9m0s after it") {
		t.Errorf("%v", err)
	}
	if n := f.of("bank", payments); n != 7 || f.prom.times() != 13 {
		t.Errorf("%v by another Prometheus", n)
	}
}

func aSlowQueryKeepsNoOtherFromBeingAsked(t *testing.T) {
	f := newFixture(t)
	good, slow := f.prom.answer, ""
	f.prom.answer = func(query string, minute int) ([]promql.Element, error) {
		if slow == "" {
			slow = query // The one that is asked first.
		}
		if query == slow {
			clustertest.Clock(f.cluster).Step(patience)
			return nil, context.DeadlineExceeded
		}
		return good(query, minute)
	}
	f.round(t.Context())
	f.round(t.Context())
	answered := map[string]float64{"requests": f.of("shop", requests), "payments": f.of("bank", payments)}
	for query, n := range answered {
		if (n > 0) == (query == slow) {
			t.Errorf("%s: %v, and %s is slow", query, n, slow)
		}
	}
}

func aTimeThatFailsKeepsNoOtherFromBeingAsked(t *testing.T) {
	f := newFixture(t)
	good, down := f.prom.answer, false
	f.prom.answer = func(query string, minute int) ([]promql.Element, error) {
		if down || minute <= 5*(times-least) {
			return nil, errors.New("a gap")
		}
		return good(query, minute)
	}
	f.round(t.Context())
	if n := f.of("bank", payments); n != 7 || f.Problem() == nil {
		t.Errorf("%v, %v", n, f.Problem())
	}
	down = true
	f.at(2*time.Hour + settled)
	f.prom.times()
	f.round(t.Context())
	if n := f.prom.times(); n != 2*(times-least+1) {
		t.Errorf("%d queries although what remained could not suffice", n)
	}
}

func onlyTheLeaderAsksAndOnlyAfterAnHour(t *testing.T) {
	f := newFixture(t)
	f.at(time.Hour + settled - time.Second)
	if f.round(t.Context()); f.prom.times() != 0 {
		t.Error("asks before the measurements of the hour have arrived")
	}
	f.at(time.Hour + settled)
	f.round(t.Context())
	f.leads = false
	f.round(t.Context())
	if n := f.of("shop", requests); n != 0 {
		t.Errorf("%v, but another replica leads", n)
	}
	f.prom.times()
	f.at(2*time.Hour + settled)
	if f.round(t.Context()); f.prom.times() != 0 {
		t.Error("asks although another replica leads")
	}
}

func nothingCountsByAnotherQuery(t *testing.T) {
	f := newFixture(t)
	f.round(t.Context())
	for _, other := range []policy.Work{{Prometheus: "http://p", Query: "bytes"}, {Prometheus: "http://q", Query: "requests"}, payments} {
		if n := f.of("shop", other); n != 0 {
			t.Errorf("%v by %+v", n, other)
		}
	}
}

// TestRun runs the counts as a server does.
func TestRun(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx)
	}()
	clock := clustertest.Clock(f.cluster)
	for deadline := time.Now().Add(30 * time.Second); f.of("shop", requests) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was asked")
		}
		if clock.HasWaiters() {
			clock.Step(promql.Interval)
		}
	}
	cancel()
	<-ended
}
