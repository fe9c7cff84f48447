package vpastatus

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
)

// said is what objects should say, and whether this process may write it.
type said struct {
	all   []demand.Status
	leads bool
}

func (s *said) Watch() <-chan struct{}    { return nil }
func (s *said) Statuses() []demand.Status { return s.all }
func (s *said) Collects() bool            { return s.leads }

// object returns an object that names workload-resizer.
func object(t *testing.T, name, status string) *vpa.Object {
	t.Helper()
	return objectIn(t, "shop", name, status)
}

func objectIn(t *testing.T, namespace, name, status string) *vpa.Object {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`{metadata: {namespace: `+namespace+`, name: `+name+`, uid: `+name+`, resourceVersion: "7"}, spec: {targetRef: {kind: Deployment, name: web},
		recommenders: [{name: workload-resizer}], updatePolicy: {updateMode: "Off"}}, status: `+status+`}`), &o.Object); err != nil {
		t.Fatal(err)
	}
	return vpa.From(o)
}

func TestWriter(t *testing.T) {
	answer := http.StatusOK
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests = append(requests, r.Method+" "+r.URL.Path+" "+string(body))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer)
		_, _ = io.WriteString(w, `{"kind": "VerticalPodAutoscaler", "apiVersion": "autoscaling.k8s.io/v1"}`)
	}))
	defer server.Close()
	demands := &said{leads: true}
	w := New(Config{
		Client: dynamic.NewForConfigOrDie(&rest.Config{Host: server.URL}), Demands: demands,
		Metrics: prometheus.NewRegistry(), Clock: clock.RealClock{},
	})
	round := func(want int) {
		t.Helper()
		requests = nil
		w.writeAll(t.Context(), nil)
		if len(requests) != want {
			t.Errorf("%d requests, want %d: %q", len(requests), want, requests)
		}
	}
	nothing := vpa.Found{Pods: true}
	demands.all = []demand.Status{
		{Object: object(t, "new", "{}"), Found: nothing},
		{Object: object(t, "same", `{conditions: [{type: RecommendationProvided, status: "False", reason: NoHistory, message: No usage of the containers is known yet}]}`), Found: nothing},
	}
	round(1)
	for _, part := range []string{"PATCH /apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers/new/status", `"uid":"new"`, `"resourceVersion":"7"`, `"reason":"NoHistory"`} {
		if !strings.Contains(requests[0], part) {
			t.Errorf("%s lacks %s", requests[0], part)
		}
	}
	demands.leads = false
	round(0)
	demands.leads = true
	for code, failed := range map[int]float64{http.StatusConflict: 0, http.StatusNotFound: 0, http.StatusForbidden: 1} {
		answer = code
		before := testutil.ToFloat64(w.writes.WithLabelValues("failed"))
		round(1)
		if got := testutil.ToFloat64(w.writes.WithLabelValues("failed")) - before; got != failed {
			t.Errorf("HTTP %d: %v failures, want %v", code, got, failed)
		}
	}
}

// A tenant has many objects, whose status changes all the time.
func TestWriterTakesTurns(t *testing.T) {
	changed := make(chan struct{}, 1)
	var written []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.URL.Path, "/")
		written = append(written, parts[5]+"/"+parts[7])
		if len(written) == 4 {
			changed <- struct{}{}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind": "VerticalPodAutoscaler", "apiVersion": "autoscaling.k8s.io/v1"}`)
	}))
	defer server.Close()
	demands := &said{leads: true}
	for i := range 4 {
		demands.all = append(demands.all, demand.Status{Object: objectIn(t, "crowd", fmt.Sprint("c", i), "{}")})
	}
	demands.all = append(demands.all, demand.Status{Object: object(t, "web", "{}")})
	w := New(Config{
		Client: dynamic.NewForConfigOrDie(&rest.Config{Host: server.URL}), Demands: demands,
		Metrics: prometheus.NewRegistry(), Clock: clock.RealClock{},
	})
	w.writeAll(t.Context(), changed)
	<-changed
	w.writeAll(t.Context(), changed)
	want := "crowd/c0 shop/web crowd/c1 crowd/c2 crowd/c3 shop/web crowd/c0 crowd/c1 crowd/c2"
	if got := strings.Join(written, " "); got != want {
		t.Errorf("written in the order %s, want %s", got, want)
	}
}
