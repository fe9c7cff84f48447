package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
	"github.com/workload-resizer/workload-resizer/reconciler/work"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage/prometheus"
)

// Only the Prometheus that usage is read from gets its token and tenant.
func TestObjectivesHaveTheCredentialsOfUsage(t *testing.T) {
	type seen struct{ token, tenant string }
	serve := func() (url string, last *seen) {
		last = &seen{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			*last = seen{r.Header.Get("Authorization"), r.Header.Get("X-Scope-OrgID")}
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"namespace":"shop","pod":"web"},"value":[1,"0.5"]}]}}`))
		}))
		t.Cleanup(server.Close)
		return server.URL, last
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	ours, first := serve()
	other, second := serve()
	o := &usageOptions{sources: []string{usagePrometheus}, address: ours, credentials: prometheus.Credentials{TokenFile: token}, tenant: "team", step: time.Minute}
	query := newQuery(o)
	for _, address := range []string{ours, other, ours} {
		var elements []promql.Element
		err := query(t.Context(), address, "up", time.Unix(1, 0), func(e promql.Element) { elements = append(elements, e) })
		if err != nil || len(elements) != 1 || elements[0].Value != 0.5 || elements[0].Pod != "web" {
			t.Errorf("%s: %v, %v", address, elements, err)
		}
	}
	if want := (seen{"Bearer secret", "team"}); *first != want {
		t.Errorf("the Prometheus of usage got %+v", *first)
	}
	if *second != (seen{}) {
		t.Errorf("another Prometheus got %+v", *second)
	}
	o.sources = nil
	if err := newQuery(o)(t.Context(), ours, "up", time.Unix(1, 0), func(promql.Element) {}); err != nil || first.token != "" {
		t.Errorf("got %+v although usage is not read from it: %v", *first, err)
	}
	if err := query(t.Context(), "http://127.0.0.1:1", "up", time.Unix(1, 0), func(promql.Element) {}); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}

// The server has some time and memory, and anyone may cause elements.
func TestObjectivesHaveSmallAnswers(t *testing.T) {
	element := strings.Repeat(`{"metric":{"namespace":"shop","pod":"web"},"value":[1,"0.5"]},`, 10_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[`))
		for range mostOfAnswer/len(element) + 1 {
			if _, err := w.Write([]byte(element)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	if err := newQuery(&usageOptions{})(t.Context(), server.URL, "up", time.Unix(1, 0), func(promql.Element) {}); err == nil || !strings.Contains(err.Error(), "larger than 24 MiB") {
		t.Error(err)
	}
}

// A pod that is missing would look as if it met its objective, and keep a size that hurts.
func TestObjectivesNeedCompleteAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[]}}`))
	}))
	t.Cleanup(server.Close)
	if err := newQuery(&usageOptions{})(t.Context(), server.URL, "up", time.Unix(1, 0), func(promql.Element) {}); err == nil || !strings.Contains(err.Error(), "isPartial") {
		t.Error(err)
	}
}

// A real Prometheus has counters of requests that grow at other rates before and after an hour.
func TestWorkIsThatOfExactlyAnHour(t *testing.T) {
	var text strings.Builder
	text.WriteString("# TYPE http_requests counter\n")
	for pod, rate := range map[string]float64{"a": 20, "b": 25} {
		total := 1000.0
		for at := podtest.Start.Add(-10*time.Minute + 15*time.Second); at.Before(podtest.Start.Add(70 * time.Minute)); at = at.Add(30 * time.Second) {
			grows := 100.0
			if !at.Before(podtest.Start) && at.Before(podtest.Start.Add(time.Hour)) {
				grows = rate
			}
			total += 30 * grows
			for _, code := range []string{"200", "500"} {
				fmt.Fprintf(&text, "http_requests_total{namespace=\"shop\",pod=%q,code=%q} %v %d\n", pod, code, total, at.Unix())
			}
		}
	}
	address, _ := localcluster.RecordedPrometheusForTest(t, []byte(text.String()+"# EOF\n"))
	by := policy.Work{Prometheus: address, Query: "rate(http_requests_total[5m])"}
	layer := clustertest.Published()
	layer.Settings = keys.Some(policy.Settings{Work: by}).Over(layer.Settings)
	created := func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(podtest.Start.Add(-time.Hour)) }
	of := clustertest.Of(t, []*corev1.Pod{
		podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "a", "a"), created), podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "b", "b"), created),
	}, nil)
	of.Ratios = clustertest.Store(t, layer)
	clock := clustertest.Clock(of)
	clock.SetTime(podtest.Start.Add(time.Hour))
	counts := work.New(work.Config{Cluster: of, Query: newQuery(&usageOptions{}), Leads: func() bool { return true }, Clock: clock})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		counts.Run(ctx)
	}()
	defer func() { cancel(); <-ended }()
	for !clock.HasWaiters() {
		time.Sleep(time.Millisecond)
	}
	clock.Step(3 * time.Minute)
	for pod, want := range map[string]float64{"a": 40, "b": 50} { // Of both codes.
		localcluster.Eventually(t, "the work of pod "+pod, func() error {
			if got := counts.Of(of.Pods("shop").Get(pod), &by, podtest.Start.Unix()/3600); math.Abs(got-want) > 1e-6 {
				return fmt.Errorf("%v, want %v; %w", got, want, counts.Problem())
			}
			return nil
		})
	}
}
