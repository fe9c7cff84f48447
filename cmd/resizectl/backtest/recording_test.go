package backtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// recorded returns what a Prometheus would have recorded of machines whose rows are at multiples of
// five minutes: each is the only replica of a StatefulSet.
func recorded(machines []*trace.Machine) []byte {
	var cpu, memory, owner, requests, limits strings.Builder
	for _, m := range machines {
		labels := fmt.Sprintf(`namespace="shop",pod="m%s-0"`, m.Name)
		used := 1000.0
		for _, row := range m.Rows {
			// Four scrapes in the five minutes. Half a millicore less is rounded up again.
			for i := range int64(4) {
				at := row.At - 300 + 30 + i*75
				used += max(float64(row.CPU)-0.5, 0) / 1000 * 75
				fmt.Fprintf(&cpu, "container_cpu_usage_seconds_total{%s,container=\"main\"} %.9f %d\n", labels, used, at)
				fmt.Fprintf(&memory, "container_memory_working_set_bytes{%s,container=\"main\"} %d %d\n", labels, row.Memory, at)
			}
		}
		at := m.Rows[len(m.Rows)-1].At
		fmt.Fprintf(&owner, "kube_pod_owner{%s,owner_kind=\"StatefulSet\",owner_name=\"m%s\",owner_is_controller=\"true\"} 1 %d\n", labels, m.Name, at)
		// With a CPU limit, the pod would be Guaranteed, and other rules would apply.
		const amount = "kube_pod_container_resource_%s{%s,container=\"main\",resource=%q} %g %d\n"
		fmt.Fprintf(&requests, amount, "requests", labels, "cpu", float64(m.Given.Request.CPU)/1000, at)
		fmt.Fprintf(&requests, amount, "requests", labels, "memory", float64(m.Given.Request.Memory), at)
		fmt.Fprintf(&limits, amount, "limits", labels, "memory", float64(m.Given.Limit.Memory), at)
	}
	var all bytes.Buffer
	for _, metric := range []struct {
		kind, name string
		text       *strings.Builder
	}{
		{"counter", "container_cpu_usage_seconds", &cpu}, {"gauge", "container_memory_working_set_bytes", &memory},
		{"gauge", "kube_pod_owner", &owner}, {"gauge", "kube_pod_container_resource_requests", &requests}, {"gauge", "kube_pod_container_resource_limits", &limits},
	} {
		fmt.Fprintf(&all, "# TYPE %s %s\n%s", metric.name, metric.kind, metric.text)
	}
	return append(all.Bytes(), "# EOF\n"...)
}

// recording is a Prometheus with what two machines used in ten days.
type recording struct {
	samples        []byte
	address, until string
	kill           func()
}

func newRecording(t *testing.T) *recording {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	machines, err := (&input{machines: 2, days: 10, seed: 1}).read(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := machines[0].Rows[len(machines[0].Rows)-1].At
	r := &recording{samples: recorded(machines), until: time.Unix(last, 0).UTC().Add(time.Hour).Format(time.RFC3339)}
	r.address, r.kill = localcluster.RecordedPrometheusForTest(t, r.samples)
	return r
}

// short returns the flags for little more than the time that does not count.
func (r *recording) short() []string { return []string{"--until", r.until, "--range", "200h"} }

// replay replays what a Prometheus has.
func replay(t *testing.T, address string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return program.Shell(t.Context(), append([]string{"backtest", "--prometheus", address}, args...)...)
}

// inFront returns a server that answers a query itself, or passes it on to the Prometheus if answers returns false.
func (r *recording) inFront(t *testing.T, start func(http.Handler) *httptest.Server, answers func(w http.ResponseWriter, r *http.Request, query string) bool) *httptest.Server {
	t.Helper()
	behind, err := url.Parse(r.address)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(behind)
	server := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(query))
		if !answers(w, r, string(query)) {
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}
