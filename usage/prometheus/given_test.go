package prometheus

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// describedPods is what kube-state-metrics says of pods: METRIC LABELS VALUE, scraped each minute in
// the given minutes. Metrics are in groups.
func describedPods(t *testing.T) []byte {
	t.Helper()
	var text strings.Builder
	for i, group := range []struct {
		metric string
		series []string
	}{
		{"kube_job_owner", []string{`job_name="sync-1",owner_kind="CronJob",owner_name="sync",owner_is_controller="true" 0-9`}},
		{"kube_pod_container_info", []string{`pod="db-0",container="main" 0-9`, `pod="db-2",container="main" 0-9`, `pod="db-2",container="bare" 0-9`, `pod="db-3",container="main" 0-9`}},
		{"kube_pod_container_resource_limits", []string{
			`pod="db-2",container="main",resource="cpu" 0-9 0.25`,
			`pod="db-2",container="main",resource="memory" 0-9 1e9`,
			`pod="db-3",container="main",resource="cpu" 0-9 0.25`,
			`pod="db-3",container="main",resource="memory" 0-9 1e9`,
			`pod="web-a-1",container="main",resource="memory" 0-9 2e9`,
			`pod="db-0",container="main",resource="cpu" 0-9 0.25`,
			`pod="db-0",container="main",resource="memory" 0-9 1e9`,
			`pod="db-1",container="main",resource="cpu" 0-9 0.25`,
			`pod="db-1",container="main",resource="memory" 0-9 1e9`,
		}},
		{"kube_pod_container_resource_requests", []string{
			`pod="db-2",container="main",resource="cpu" 0-9 0.25`,
			`pod="db-2",container="main",resource="memory" 0-9 1e9`,
			`pod="db-3",container="main",resource="cpu" 0-9 0.25`,
			`pod="db-3",container="main",resource="memory" 0-9 1e9`,
			`pod="web-a-1",container="main",resource="cpu" 0-9 0.5`,
			`pod="web-a-1",container="main",resource="cpu" 3000-3009 0.75`, // resized after two days
			`pod="web-a-1",container="main",resource="memory" 0-9 1e9`,
			`pod="web-a-1",container="main",resource="nvidia_com_gpu" 0-9 1`,
			`pod="db-0",container="main",resource="cpu" 0-9 0.25`,
			`pod="db-0",container="main",resource="memory" 0-9 1e9`,
			`pod="db-1",container="main",resource="cpu" 0-9 0.25`,
			`pod="db-1",container="main",resource="memory" 0-9 1e9`,
			`pod="db-1",container="side",resource="cpu" 0-9 0.1`,
			`pod="unowned",container="main",resource="cpu" 0-9 NaN`,
			`pod="lost",container="main",resource="cpu" 0-9 1`,
		}},
		{"kube_pod_init_container_info", []string{`pod="db-3",container="sidecar" 0-9`}},
		{"kube_pod_init_container_resource_limits", []string{`pod="db-3",container="sidecar",resource="memory" 0-9 1e9`}},
		{"kube_pod_init_container_resource_requests", []string{`pod="db-3",container="sidecar",resource="cpu" 0-9 0.1`}},
		{"kube_pod_owner", []string{
			`pod="db-2",owner_kind="StatefulSet",owner_name="db",owner_is_controller="true" 0-9`,
			`pod="db-3",owner_kind="StatefulSet",owner_name="db",owner_is_controller="true" 0-9`,
			`pod="web-a-1",owner_kind="ReplicaSet",owner_name="web-a",owner_is_controller="true" 0-9`,
			`pod="short",owner_kind="ReplicaSet",owner_name="web-a",owner_is_controller="true" 90-91`,
			`pod="db-0",owner_kind="StatefulSet",owner_name="db",owner_is_controller="true" 0-9`,
			`pod="db-1",owner_kind="StatefulSet",owner_name="db",owner_is_controller="true" 0-9`,
			`pod="sync-1-x",owner_kind="Job",owner_name="sync-1",owner_is_controller="true" 0-9`,
			`pod="once-x",owner_kind="Job",owner_name="once",owner_is_controller="true" 0-9`,
			`pod="unowned",owner_kind="<none>",owner_name="<none>",owner_is_controller="<none>" 0-9`,
			`pod="node-pod",owner_kind="Node",owner_name="n1",owner_is_controller="false" 0-9`,
		}},
		{"kube_replicaset_owner", []string{`replicaset="web-a",owner_kind="Deployment",owner_name="web",owner_is_controller="true" 0-9`}},
	} {
		fmt.Fprintf(&text, "# TYPE %s gauge\n", group.metric)
		for _, series := range group.series {
			var first, last int
			value := "1"
			labels, rest, _ := strings.Cut(series, " ")
			if n, err := fmt.Sscanf(strings.Replace(rest, "-", " ", 1)+" ", "%d %d %s", &first, &last, &value); n < 2 {
				t.Fatalf("%d: %q: %v", i, series, err)
			}
			for minute := first; minute <= last; minute++ {
				fmt.Fprintf(&text, "%s{namespace=\"shop\",%s} %s %d\n", group.metric, labels, value, began.Add(time.Duration(minute)*time.Minute).Unix())
			}
		}
	}
	return []byte(text.String() + "# EOF\n")
}

func TestGiven(t *testing.T) {
	address, kill := localcluster.RecordedPrometheusForTest(t, describedPods(t))
	source := newSource(t, Config{Address: address})
	read := func(t *testing.T, until time.Time) *Given {
		t.Helper()
		g, err := source.Given(t.Context(), began, until)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	all := read(t, began.AddDate(0, 0, 3))
	workload := func(kind, name string) usage.Workload {
		return usage.Workload{Namespace: "shop", Kind: kind, Name: name}
	}
	const gb = 1_000_000_000
	database := recommend.Authored{Request: recommend.Amounts{CPU: 250, Memory: gb}, Limit: recommend.Amounts{CPU: 250, Memory: gb}}
	guaranteed := database
	guaranteed.Guaranteed = true
	for name, test := range map[string]struct {
		pod, container string
		workload       usage.Workload
		given          recommend.Authored
	}{
		"the Deployment of a ReplicaSet, and the last request": {"web-a-1", "main", workload("Deployment", "web"), recommend.Authored{Request: recommend.Amounts{CPU: 750, Memory: gb}, Limit: recommend.Amounts{Memory: 2 * gb}}},
		"a pod that lived for a minute":                        {"short", "main", workload("Deployment", "web"), recommend.Authored{}},
		"a Guaranteed pod":                                     {"db-0", "main", workload("StatefulSet", "db"), guaranteed},
		"a pod with a container that is not Guaranteed":        {"db-1", "main", workload("StatefulSet", "db"), database},
		"a pod with a container that was given nothing":        {"db-2", "main", workload("StatefulSet", "db"), database},
		"a pod with a sidecar that is not Guaranteed":          {"db-3", "main", workload("StatefulSet", "db"), database},
		"a sidecar":                                          {"db-3", "sidecar", workload("StatefulSet", "db"), recommend.Authored{Request: recommend.Amounts{CPU: 100}, Limit: recommend.Amounts{Memory: gb}}},
		"a container without requests":                       {"db-0", "other", workload("StatefulSet", "db"), recommend.Authored{Guaranteed: true}},
		"the CronJob of a Job":                               {"sync-1-x", "main", workload("CronJob", "sync"), recommend.Authored{}},
		"a Job that runs once, by its pod":                   {"once-x", "main", workload("Pod", "once-x"), recommend.Authored{}},
		"a pod without an owner, and a request of no number": {"unowned", "main", workload("Pod", "unowned"), recommend.Authored{}},
		"a pod with an owner that does not control it":       {"node-pod", "main", workload("Pod", "node-pod"), recommend.Authored{}},
	} {
		t.Run("knows "+name, func(t *testing.T) {
			w, given, ok := all.Of("shop", test.pod, test.container)
			if !ok || w != test.workload || given != test.given {
				t.Errorf("%+v, %+v, %t", w, given, ok)
			}
		})
	}
	t.Run("does not know pods without kube_pod_owner", func(t *testing.T) {
		for _, pod := range []string{"lost", "missing"} {
			if _, _, ok := all.Of("shop", pod, "main"); ok {
				t.Error(pod)
			}
		}
	})
	t.Run("knows what was given at the end of the time", func(t *testing.T) {
		if _, given, _ := read(t, began.Add(time.Hour)).Of("shop", "web-a-1", "main"); given.Request.CPU != 500 {
			t.Errorf("%+v", given)
		}
	})
	t.Run("fails without kube-state-metrics", func(t *testing.T) {
		if _, err := source.Given(t.Context(), began.AddDate(0, 1, 0), began.AddDate(0, 1, 1)); !errors.Is(err, ErrNoPods) {
			t.Error(err)
		}
	})
	t.Run("fails without Prometheus", func(t *testing.T) {
		kill()
		if _, err := source.Given(t.Context(), began, began.Add(time.Hour)); err == nil || !strings.Contains(err.Error(), "query max by (namespace, pod, owner_kind") {
			t.Error(err)
		}
	})
}

// Google's Managed Service for Prometheus refuses regular expressions on names.
func TestQueriesNameTheirMetrics(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if query := r.FormValue("query"); strings.Contains(query, "__name__") {
			t.Error(query)
		}
		_, _ = io.WriteString(w, matrix(""))
	}))
	t.Cleanup(server.Close)
	source := newSource(t, Config{Address: server.URL, Selector: `cluster="a"`})
	if _, err := source.Given(t.Context(), began, began.Add(time.Hour)); !errors.Is(err, ErrNoPods) {
		t.Error(err)
	}
	if err := source.Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) {}); err != nil {
		t.Error(err)
	}
}
