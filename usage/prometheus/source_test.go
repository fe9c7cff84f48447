package prometheus

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/usagetest"
)

// began is a multiple of the interval.
var began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// recording is what a Prometheus has recorded, as OpenMetrics.
type recording struct{ text strings.Builder }

// metric begins a metric.
func (r *recording) metric(kind, name string) { fmt.Fprintf(&r.text, "# TYPE %s %s\n", name, kind) }

// scrape is the time between scrapes, and perStep how many of them an interval has.
const (
	scrape  = 30 * time.Second
	perStep = 10
)

// series records a series of the pod shop/web: values of interval n. An empty one is not scraped.
func (r *recording) series(name, labels string, steps map[int]func(scrape int) string) {
	for step := range 100 {
		value := steps[step]
		for i := range perStep {
			if value == nil {
				break
			}
			text := value(i)
			if text == "" {
				continue
			}
			at := began.Add(time.Duration(step-1)*5*time.Minute + scrape/2 + time.Duration(i)*scrape)
			fmt.Fprintf(&r.text, "%s{namespace=\"shop\",pod=\"web\",%s} %s %d\n", name, labels, text, at.Unix())
		}
	}
}

// counter returns the values of a counter: from a start, with a rate per second.
func counter(start, rate float64) func(int) string {
	return func(i int) string { return fmt.Sprint(start + rate*scrape.Seconds()*float64(i)) }
}

// constant returns the same value at each scrape, and peak a higher one at one of them.
func constant(value string) func(int) string { return func(int) string { return value } }

func peak(value, high string) func(int) string {
	return func(i int) string {
		if i == 4 {
			return high
		}
		return value
	}
}

// except returns values that are not scraped at some times.
func except(values func(int) string, missing ...int) func(int) string {
	return func(i int) string {
		if slices.Contains(missing, i) {
			return ""
		}
		return values(i)
	}
}

// reset returns the values of a counter that begins again in the middle.
func reset(start, rate float64) func(int) string {
	return func(i int) string {
		if i >= perStep/2 {
			start, i = rate*scrape.Seconds(), i-perStep/2
		}
		return counter(start, rate)(i)
	}
}

// The cgroups of two pods with the same name.
const (
	oldUID, youngUID = "11111111-2222-3333-4444-555555555555", "66666666-7777-8888-9999-aaaaaaaaaaaa"
	old              = `container="db",id="/kubepods/burstable/pod` + oldUID + `/abc"`
	young            = `container="db",id="/kubepods.slice/kubepods-pod66666666_7777_8888_9999_aaaaaaaaaaaa.slice/def"`
)

// recorded has containers that use something, and values that no usage can have.
func recorded() []byte {
	var r recording
	const main, side, second = `container="main",id="/a"`, `container="side",id="/c"`, `container="main",id="/b"`
	r.metric("counter", "container_cpu_cfs_throttled_periods")
	r.series("container_cpu_cfs_throttled_periods_total", main, map[int]func(int) string{0: constant("50"), 1: counter(50, 1), 30: counter(400, 0.1)})
	r.metric("counter", "container_cpu_cfs_periods")
	r.series("container_cpu_cfs_periods_total", main, map[int]func(int) string{0: constant("90"), 1: counter(90, 4), 30: counter(900, 0.1)})
	r.metric("counter", "container_cpu_usage_seconds")
	steady := func(step int) func(int) string { return counter(9000+0.2495*300*float64(step), 0.2495) }
	r.series("container_cpu_usage_seconds_total", main, map[int]func(int) string{
		0: counter(1000, 0.2495), 1: counter(1000+1.4995*30+0.2495*270, 1.4995), 30: reset(5000, 0.4995),
		33: constant("NaN"), 36: constant("+Inf"),
		39: constant("7000"), // It used nothing, which is not unknown.
		// Prometheus was down in the middle of an interval, at the end of two, and in the whole of
		// the one after them.
		50: except(steady(50), 3, 4, 5), 51: except(steady(51), 7, 8, 9), 52: except(steady(52), 0, 1, 2, 7, 8, 9),
		54: except(steady(54), 0, 1, 2, 3, 4, 5),
		// The counter was reset, and soon became as high as before.
		63: counter(100, 0.2495), 64: reset(174.85, 0.4995),
		// One scrape is no rate.
		57: except(counter(9000, 1), 1, 2, 3, 4, 5, 6, 7, 8, 9),
	})
	// The kubelet's /metrics/resource has the same metric.
	r.series("container_cpu_usage_seconds_total", `container="main",metrics_path="/metrics/resource"`, map[int]func(int) string{0: counter(2000, 0.2495)})
	// Prometheus replicas, or clusters, have counters of their own for a container. One of them begins.
	r.series("container_cpu_usage_seconds_total", `container="main",replica="x"`, map[int]func(int) string{70: steady(70), 71: steady(71)})
	r.series("container_cpu_usage_seconds_total", `container="main",replica="y"`, map[int]func(int) string{71: counter(5e6, 0.1)})
	r.series("container_cpu_usage_seconds_total", second, map[int]func(int) string{60: counter(1000, 0.25)})
	r.series("container_cpu_usage_seconds_total", `container="POD",id="/p"`, map[int]func(int) string{0: counter(1000, 1)})
	r.series("container_cpu_usage_seconds_total", `container="",id="/w"`, map[int]func(int) string{0: counter(1000, 1)})
	// The pods of a StatefulSet have the same name, and one interval has both. systemd writes
	// underscores. An endpoint without cgroups measures both as one.
	r.series("container_cpu_usage_seconds_total", old, map[int]func(int) string{80: except(counter(9000, 1.4995), 5, 6, 7, 8, 9)})
	r.series("container_cpu_usage_seconds_total", young, map[int]func(int) string{80: except(counter(0, 0.2495), 0, 1, 2, 3, 4), 81: counter(74.85, 0.2495)})
	r.series("container_cpu_usage_seconds_total", `container="db",metrics_path="/metrics/resource"`, map[int]func(int) string{80: counter(1000, 2), 82: counter(1000, 0.7495)})
	r.metric("gauge", "container_memory_working_set_bytes")
	r.series("container_memory_working_set_bytes", old, map[int]func(int) string{80: except(constant("3e8"), 5, 6, 7, 8, 9)})
	r.series("container_memory_working_set_bytes", young, map[int]func(int) string{80: except(constant("1e8"), 0, 1, 2, 3, 4)})
	r.series("container_memory_working_set_bytes", main, map[int]func(int) string{0: peak("5e7", "1e8")})
	r.series("container_memory_working_set_bytes", side, map[int]func(int) string{40: constant("2e8"), 42: constant("NaN"), 44: constant("-1"), 46: constant("1e300")})
	r.metric("counter", "container_pressure_memory_waiting_seconds")
	r.series("container_pressure_memory_waiting_seconds_total", main, map[int]func(int) string{0: counter(100, 0.25)})
	r.metric("counter", "container_pressure_cpu_waiting_seconds")
	r.series("container_pressure_cpu_waiting_seconds_total", main, map[int]func(int) string{1: counter(10, 0.5), 30: constant("NaN")})
	return []byte(r.text.String() + "# EOF\n")
}

func sample(container string, resource history.Resource, step int, value int64) usage.Sample {
	s := usage.Sample{Namespace: "shop", Name: "web", Container: container}
	s.Resource, s.At, s.Length, s.Usage = resource, began.Add(time.Duration(step)*5*time.Minute), 5*time.Minute, value
	if resource == history.CPU && value > 0 {
		s.Cores = (float64(value) - 0.5) / 1000 // The recorded rates are half a millicore less.
	}
	return s
}

// of returns a sample of the pod with a UID.
func of(uid string, s usage.Sample) usage.Sample {
	s.UID = uid
	return s
}

// want returns the samples that follow from what was recorded.
func want() []usage.Sample {
	waited := sample("main", history.CPU, 1, 1500)
	waited.Throttled, waited.Pressure = true, 0.5
	waited.Strain.Throttled, waited.Strain.Pressure = usage.ValueOf(0.25), usage.ValueOf(0.5)
	idle, calm, full := sample("main", history.CPU, 0, 250), sample("main", history.CPU, 30, 500), sample("main", history.Memory, 0, 1e8)
	idle.Strain.Throttled = usage.ValueOf(0)
	calm.Throttled, calm.Strain.Throttled, calm.Strain.Pressure = true, usage.ValueOf(0.1), usage.ValueOf(0) // It rarely runs.
	full.Strain.Pressure = usage.ValueOf(0.25)
	even := sample("main", history.CPU, 60, 250)
	even.Cores = 0.25
	return []usage.Sample{
		idle, waited, calm,
		sample("main", history.CPU, 39, 0), sample("main", history.CPU, 50, 250), sample("main", history.CPU, 51, 250),
		sample("main", history.CPU, 52, 250), sample("main", history.CPU, 54, 250), even,
		sample("main", history.CPU, 63, 250), sample("main", history.CPU, 64, 500),
		sample("main", history.CPU, 70, 250), sample("main", history.CPU, 71, 250),
		of(oldUID, sample("db", history.CPU, 80, 1500)), of(youngUID, sample("db", history.CPU, 80, 250)),
		of(youngUID, sample("db", history.CPU, 81, 250)), sample("db", history.CPU, 82, 750),
		of(oldUID, sample("db", history.Memory, 80, 3e8)), of(youngUID, sample("db", history.Memory, 80, 1e8)),
		full, sample("side", history.Memory, 40, 2e8),
	}
}

// multiTenant returns a Prometheus that has tenants, as Mimir: it answers only for "team".
func multiTenant(t *testing.T, address string) string {
	t.Helper()
	behind, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(behind)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Scope-OrgID") != "team" {
			http.Error(w, "no org id", http.StatusUnauthorized)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// newSource returns a source that reads from an address.
func newSource(t *testing.T, c Config) *Source {
	t.Helper()
	source, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestSource(t *testing.T) {
	usagetest.Run(t, func(t *testing.T) usagetest.Case {
		address, kill := localcluster.RecordedPrometheusForTest(t, recorded())
		return usagetest.Case{Source: newSource(t, Config{Address: address}), Want: want(), Break: kill}
	})
	t.Run("asks for its tenant", func(t *testing.T) {
		address, _ := localcluster.RecordedPrometheusForTest(t, recorded())
		address = multiTenant(t, address)
		for tenant, samples := range map[string]int{"team": len(want()), "others": 0, "": 0} {
			n := 0
			err := newSource(t, Config{Address: address, Tenant: tenant}).Read(t.Context(), began.Add(-time.Hour), began.Add(8*time.Hour), func(usage.Sample) { n++ })
			if n != samples || (err == nil) != (samples > 0) {
				t.Errorf("tenant %q reads %d samples, want %d: %v", tenant, n, samples, err)
			}
		}
	})
	for name, c := range map[string]Config{
		"prometheus http://user:xxxxx@host/path":                       {Address: "http://user:secret@host/path"},
		"prometheus http://xxxxx@host":                                 {Address: "http://secret@host"},
		"prometheus http://host/?dedup=xxxxx&token=xxxxx":              {Address: "http://host/?token=secret&dedup=1#secret"},
		`prometheus http://host of tenant team {cluster="a",env!="b"}`: {Address: "http://host", Tenant: "team", Selector: `cluster = "a", env!="b",`},
	} {
		t.Run("has the name "+name, func(t *testing.T) {
			if got := newSource(t, c).Name(); got != name {
				t.Error(got)
			}
		})
	}
	for name, address := range map[string]string{
		"a password": "http://user:secret/word@HOST", "a user that is a token": "http://secret/word@HOST",
		"a query string": "http://HOST/?token=secret/word", "an escaped password": "http://user:secret%2Fword@HOST",
	} {
		t.Run("has no errors with "+name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				user, password, _ := r.BasicAuth()
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"status":"error","errorType":"bad_data","error":"%s and %s may not read %s: %s"}`, user, password, r.URL, strings.Repeat("x", 1e6))
			}))
			t.Cleanup(server.Close)
			at := strings.ReplaceAll(strings.Replace(address, "HOST", strings.TrimPrefix(server.URL, "http://"), 1), "secret/word@", "secret%2Fword@")
			source := newSource(t, Config{Address: at})
			for _, stop := range []func(){func() {}, server.Close} {
				stop()
				err := source.Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) {})
				if err == nil || strings.Contains(err.Error(), "secret") || len(err.Error()) > 3*longest {
					t.Errorf("%d bytes: %v", len(fmt.Sprint(err)), err)
				}
			}
		})
	}
	t.Run("reads one of several clusters", func(t *testing.T) {
		text := strings.ReplaceAll(string(recorded()), `namespace="shop"`, `namespace="shop",cluster="a"`)
		address, _ := localcluster.RecordedPrometheusForTest(t, []byte(text))
		for selector, samples := range map[string]int{
			`cluster="a"`: len(want()), `cluster=~"a|b",namespace="shop"`: len(want()), `cluster!="a"`: 0, `cluster="INTERVAL"`: 0, `cluster="SELECTOR"`: 0, "": len(want()),
		} {
			n := 0
			err := newSource(t, Config{Address: address, Selector: selector}).Read(t.Context(), began.Add(-time.Hour), began.Add(8*time.Hour), func(usage.Sample) { n++ })
			if n != samples || err != nil {
				t.Errorf("%s reads %d samples, want %d: %v", selector, n, samples, err)
			}
		}
	})
	for _, interval := range []time.Duration{-time.Second, time.Nanosecond, 11 * time.Minute} {
		if _, err := New(Config{Address: "http://host", Interval: interval}); err == nil {
			t.Errorf("accepts the interval %v", interval)
		}
	}
	for _, address := range []string{"::", "localhost:9090", "ftp://host", "http://", "", "http://user:secret@host:port", "http://user:secret%@host", "http://user:p/secret@host", "user:secret@host"} {
		t.Run("rejects the address "+address+" without showing a password", func(t *testing.T) {
			if _, err := New(Config{Address: address}); err == nil || strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
		})
	}
	t.Run("does not send its tenant to other hosts", func(t *testing.T) {
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("%s with the tenant %q", r.URL, r.Header.Get("X-Scope-OrgID"))
		}))
		t.Cleanup(other.Close)
		elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusTemporaryRedirect)
		}))
		t.Cleanup(server.Close)
		err := newSource(t, Config{Address: server.URL, Tenant: "team"}).Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) {})
		if err == nil || !strings.Contains(err.Error(), "redirected to the host localhost") {
			t.Error(err)
		}
	})
	t.Run("follows redirects on its host", func(t *testing.T) {
		address, _ := localcluster.RecordedPrometheusForTest(t, recorded())
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, address+r.URL.Path, http.StatusTemporaryRedirect)
		}))
		t.Cleanup(server.Close)
		n := 0
		if err := newSource(t, Config{Address: server.URL}).Read(t.Context(), began.Add(-time.Hour), began.Add(8*time.Hour), func(usage.Sample) { n++ }); err != nil || n != len(want()) {
			t.Errorf("%d samples: %v", n, err)
		}
	})
}
