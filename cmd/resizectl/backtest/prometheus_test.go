package backtest

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
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

func TestPrometheus(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	machines, err := (&input{machines: 2, days: 10, seed: 1}).read(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	address, kill := localcluster.RecordedPrometheusForTest(t, recorded(machines))
	backtest := func(args ...string) (code int, stdout, stderr string) {
		return program.Shell(t.Context(), append([]string{"backtest", "--prometheus", address}, args...)...)
	}
	last := machines[0].Rows[len(machines[0].Rows)-1].At
	until := time.Unix(last, 0).UTC().Add(time.Hour).Format(time.RFC3339)

	t.Run("shows the same for recorded containers as for a trace of them", func(t *testing.T) {
		code, stdout, stderr := backtest("--until", until, "--range", "264h")
		if code != command.ExitOK || stderr != "" {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		cmdtest.Golden(t, "generated.table", stdout)
	})
	t.Run("runs the examples of the documentation", func(t *testing.T) {
		text, err := os.ReadFile("../../../docs/usage.md")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text) + NewCommand(print.Output{}).Example) {
			args := strings.Fields(line)
			if len(args) < 2 || args[0] != "resizectl" || args[1] != "backtest" || slices.Contains(args, "--help") {
				continue
			}
			for i, arg := range args {
				switch arg {
				case "usage.csv.gz":
					args[i] = small
				case "result.svg":
					args[i] = filepath.Join(t.TempDir(), arg)
				case "http://localhost:9090":
					args[i] = address
					args = append(args, "--until", until)
				}
			}
			n++
			if code, _, stderr := program.Shell(t.Context(), args[1:]...); code != command.ExitOK {
				t.Errorf("%s: %s", strings.TrimSpace(line), stderr)
			}
		}
		if n < 6 {
			t.Errorf("only %d examples", n)
		}
	})
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a time without pods": {[]string{"--until", "2020-01-01T00:00:00Z"}, "no metric kube_pod_owner: what containers were given is known only if Prometheus scrapes kube-state-metrics"},
	} {
		t.Run("reports "+name, func(t *testing.T) {
			if code, _, stderr := backtest(test.args...); code != command.ExitError || !strings.Contains(stderr, test.want) {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
	t.Run("reports that containers have no usage", func(t *testing.T) {
		address, _ := localcluster.RecordedPrometheusForTest(t, []byte(strings.ReplaceAll(string(recorded(machines)), "container_", "unknown_")))
		code, _, stderr := program.Shell(t.Context(), "backtest", "--prometheus", address, "--until", until, "--range", "200h")
		if code != command.ExitError || !strings.Contains(stderr, "has no usage of containers between") {
			t.Errorf("exit %d: %s", code, stderr)
		}
	})
	t.Run("reports pods that kube-state-metrics does not describe", func(t *testing.T) {
		other := strings.ReplaceAll(string(recorded(machines)), `kube_pod_owner{namespace="shop"`, `kube_pod_owner{namespace="monitoring"`)
		address, _ := localcluster.RecordedPrometheusForTest(t, []byte(other))
		code, _, stderr := program.Shell(t.Context(), "backtest", "--prometheus", address, "--until", until, "--range", "200h")
		if code != command.ExitError || !strings.Contains(stderr, "has usage of 2 containers, but kube_pod_owner does not describe their pods") {
			t.Errorf("exit %d: %s", code, stderr)
		}
	})
	without := func(text string) []byte {
		return slices.Concat(slices.Collect(func(yield func([]byte) bool) {
			for line := range bytes.Lines(recorded(machines)) {
				if !strings.HasPrefix(string(line), text) && !yield(line) {
					return
				}
			}
		})...)
	}
	for name, test := range map[string]struct {
		text []byte
		want string
	}{
		"containers that a shard of kube-state-metrics would describe": {
			without(`kube_pod_owner{namespace="shop",pod="m1-0"`),
			"warning: the replay is without 1 of 2 containers with usage, whose pods kube_pod_owner does not describe",
		},
		"containers without requests": {
			without(`kube_pod_container_resource_requests{namespace="shop",pod="m1-0"`),
			"warning: 1 of 2 containers with usage have no request in the metrics of kube-state-metrics",
		},
	} {
		t.Run("warns of "+name, func(t *testing.T) {
			address, _ := localcluster.RecordedPrometheusForTest(t, test.text)
			code, _, stderr := program.Shell(t.Context(), "backtest", "--prometheus", address, "--until", until, "--range", "264h")
			if code != command.ExitOK || !strings.HasPrefix(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
	behind, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(behind)
	t.Run("warns that answers are partial", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			r.Header.Del("Accept-Encoding")
			forward.ServeHTTP(answer, r)
			_, _ = w.Write(bytes.Replace(answer.Body.Bytes(), []byte(`{"status":"success"`), []byte(`{"status":"success","isPartial":true`), 1))
		}))
		t.Cleanup(server.Close)
		code, stdout, stderr := program.Shell(t.Context(), "backtest", "--prometheus", server.URL, "--until", until, "--range", "264h")
		if code != command.ExitOK || strings.Count(stderr, "warning: ") != 2 || strings.Count(stderr, "isPartial") != 2 {
			t.Errorf("exit %d: %s", code, stderr)
		}
		cmdtest.Golden(t, "generated.table", stdout)
	})
	t.Run("continues after a failure", func(t *testing.T) {
		asked, most := 0, 100
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked > most {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			forward.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		run := func(args ...string) (code int, stdout, stderr string) {
			asked = 0
			return program.Shell(t.Context(), append([]string{"backtest", "--prometheus", server.URL, "--until", until, "--range", "264h"}, args...)...)
		}
		if code, _, stderr := run(); code != command.ExitError || !strings.Contains(stderr, "The complete answers are kept for a day: run the command again to continue.\n") {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		if code, _, stderr := run("--tenant", "other"); code != command.ExitError || asked != most+1 {
			t.Errorf("another tenant has the same answers: exit %d after %d queries: %s", code, asked, stderr)
		}
		most = 1_000_000
		code, stdout, stderr := run()
		if code != command.ExitOK || stderr != "" {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		cmdtest.Golden(t, "generated.table", stdout)
		rest := asked
		if code, _, stderr := run(); code != command.ExitOK || asked != rest+100 {
			t.Errorf("asks %d queries after a success, and %d when it continued: exit %d: %s", asked, rest, code, stderr)
		}
	})
	for name, hidden := range map[string]string{"pods": "kube_", "usage": "container_"} {
		t.Run("asks again after an attempt without the rights to see "+name, func(t *testing.T) {
			hides := true
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				query, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(query))
				if hides && strings.Contains(string(query), hidden) {
					_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"matrix","result":[]}}`)
					return
				}
				forward.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			run := func() (code int, stdout, stderr string) {
				return program.Shell(t.Context(), "backtest", "--prometheus", server.URL, "--until", until, "--range", "264h")
			}
			if code, _, stderr := run(); code != command.ExitError || strings.Contains(stderr, "to continue") {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			hides = false
			if code, _, stderr := run(); code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
	t.Run("sends credentials", func(t *testing.T) {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer the-token" || r.Header.Get("X-Api-Key") != "the-key" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			forward.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		folder := t.TempDir()
		args := []string{"backtest", "--prometheus", server.URL, "--until", until, "--range", "200h"}
		for flag, text := range map[string]string{
			"prometheus-token-file": "the-token", "prometheus-headers-file": "X-Api-Key: the-key",
			"prometheus-ca-file": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
		} {
			file := filepath.Join(folder, flag)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--"+flag, file)
		}
		if code, _, stderr := program.Shell(t.Context(), args...); code != command.ExitOK {
			t.Errorf("exit %d: %s", code, stderr)
		}
	})
	t.Run("reports a Prometheus that does not answer", func(t *testing.T) {
		kill()
		if code, _, stderr := backtest(); code != command.ExitError || !strings.Contains(stderr, "read what containers were given from prometheus "+address) {
			t.Errorf("exit %d: %s", code, stderr)
		}
	})
}
