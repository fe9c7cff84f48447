package prometheus

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/usagetest"
)

// began is a multiple of the interval.
var began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// point is a sample that the server has, as text.
type point struct {
	metric, container string
	step              int
	value             string
}

// points has samples, and values that no usage can have.
var points = []point{
	{"container_cpu_usage_seconds_total", "main", 0, "0.25"},
	{"container_cpu_usage_seconds_total", "main", 1, "1.5"},
	{"container_cpu_usage_seconds_total", "main", 30, "0.5"},
	{"container_cpu_usage_seconds_total", "main", 31, "NaN"},
	{"container_cpu_usage_seconds_total", "main", 32, "+Inf"},
	{"container_cpu_usage_seconds_total", "main", 33, "-1"},
	{"container_cpu_cfs_throttled_periods_total", "main", 1, "7"},
	{"container_pressure_cpu_waiting_seconds_total", "main", 1, "0.5"},
	{"container_pressure_cpu_waiting_seconds_total", "main", 30, "NaN"},
	{"container_memory_working_set_bytes", "main", 0, "1e8"},
	{"container_memory_working_set_bytes", "side", 40, "2e8"},
	{"container_memory_working_set_bytes", "side", 41, "NaN"},
}

func sample(container string, resource history.Resource, step int, value int64) usage.Sample {
	s := usage.Sample{Namespace: "shop", Name: "web", Container: container}
	s.Resource, s.At, s.Length, s.Usage = resource, began.Add(time.Duration(step)*5*time.Minute), 5*time.Minute, value
	return s
}

// want returns the samples that follow from points.
func want() []usage.Sample {
	waited := sample("main", history.CPU, 1, 1500)
	waited.Throttled, waited.Pressure = true, 0.5
	return []usage.Sample{
		sample("main", history.CPU, 0, 250), waited, sample("main", history.CPU, 30, 500),
		sample("main", history.Memory, 0, 1e8), sample("side", history.Memory, 40, 2e8),
	}
}

// serve answers range queries from points. The tenant must be "team".
func serve(t *testing.T, down *atomic.Bool) *Source {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() || r.Header.Get("X-Scope-OrgID") != "team" {
			http.Error(w, "no answer", http.StatusServiceUnavailable)
			return
		}
		seconds := func(name string) float64 {
			n, err := strconv.ParseFloat(r.FormValue(name), 64)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		series := map[string][][]any{}
		for _, p := range points {
			at := float64(began.Unix() + int64(p.step)*300)
			if strings.Contains(r.FormValue("query"), p.metric) && at >= seconds("start") && at <= seconds("end") {
				series[p.container] = append(series[p.container], []any{at, p.value})
			}
		}
		result := []any{}
		for container, values := range series {
			result = append(result, map[string]any{
				"metric": map[string]string{"namespace": "shop", "pod": "web", "container": container}, "values": values,
			})
		}
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]any{"status": "success", "data": map[string]any{"resultType": "matrix", "result": result}}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	source, err := New(Config{Address: server.URL, Tenant: "team"})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestSource(t *testing.T) {
	usagetest.Run(t, func(t *testing.T) usagetest.Case {
		down := &atomic.Bool{}
		return usagetest.Case{Source: serve(t, down), Want: want(), Break: func() { down.Store(true) }}
	})
	t.Run("needs an address", func(t *testing.T) {
		if _, err := New(Config{Address: "::"}); err == nil {
			t.Error("no error")
		}
	})
	t.Run("asks what a real Prometheus understands", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte("global: {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		source := &Source{api: localcluster.PrometheusForTest(t, dir), interval: 5 * time.Minute}
		if err := source.Read(t.Context(), began, began.Add(time.Hour), func(s usage.Sample) { t.Errorf("invented %+v", s) }); err != nil {
			t.Error(err)
		}
	})
}
