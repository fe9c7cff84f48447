package backtest

import (
	"bytes"
	"encoding/pem"
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

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestManyReads has the tests that read many days again and again, for which the race detector would take minutes.
// TestARecordedTrace reads them once.
func TestManyReads(t *testing.T) {
	r := newRecording(t)
	t.Run("runs the examples of the documentation", func(t *testing.T) { testExamples(t, r) })
	for name, test := range map[string]struct{ hidden, instead, want string }{
		"no usage": {"container_", "unknown_", "has no usage of containers between"},
		"pods that kube-state-metrics does not describe": {
			`kube_pod_owner{namespace="shop"`, `kube_pod_owner{namespace="monitoring"`,
			"has usage of 2 containers, but kube_pod_owner does not describe their pods",
		},
	} {
		t.Run("reports "+name, func(t *testing.T) {
			address, _ := localcluster.RecordedPrometheusForTest(t, bytes.ReplaceAll(r.samples, []byte(test.hidden), []byte(test.instead)))
			if code, _, stderr := replay(t, address, r.short()...); code != command.ExitError || !strings.Contains(stderr, test.want) {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
	for name, test := range map[string]struct{ without, want string }{
		"containers that a shard of kube-state-metrics would describe": {
			`kube_pod_owner{namespace="shop",pod="m1-0"`,
			"warning: the replay is without 1 of 2 containers with usage, whose pods kube_pod_owner does not describe",
		},
		"containers without requests": {
			`kube_pod_container_resource_requests{namespace="shop",pod="m1-0"`,
			"warning: 1 of 2 containers with usage have no request in the metrics of kube-state-metrics",
		},
	} {
		t.Run("warns of "+name, func(t *testing.T) {
			lines := slices.DeleteFunc(slices.Collect(bytes.Lines(r.samples)), func(line []byte) bool { return strings.HasPrefix(string(line), test.without) })
			address, _ := localcluster.RecordedPrometheusForTest(t, bytes.Join(lines, nil))
			if code, _, stderr := replay(t, address, r.short()...); code != command.ExitOK || !strings.HasPrefix(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
	t.Run("warns that answers are partial", func(t *testing.T) { testPartial(t, r) })
	t.Run("continues after a failure", func(t *testing.T) { testContinues(t, r) })
	for name, hidden := range map[string]string{"pods": "kube_", "usage": "container_"} {
		t.Run("asks again after an attempt without the rights to see "+name, func(t *testing.T) { testHidden(t, r, hidden) })
	}
	t.Run("sends credentials", func(t *testing.T) { testCredentials(t, r) })
}

func testExamples(t *testing.T, r *recording) {
	text, err := os.ReadFile("../../../docs/design/usage.md")
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
				args[i] = r.address
				args = append(args, r.short()...)
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
}

func testPartial(t *testing.T, r *recording) {
	behind, err := url.Parse(r.address)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(behind)
	server := r.inFront(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		answer := httptest.NewRecorder()
		r.Header.Del("Accept-Encoding")
		forward.ServeHTTP(answer, r)
		_, _ = w.Write(bytes.Replace(answer.Body.Bytes(), []byte(`{"status":"success"`), []byte(`{"status":"success","isPartial":true`), 1))
		return true
	})
	code, stdout, stderr := replay(t, server.URL, "--until", r.until, "--range", "264h")
	if code != command.ExitOK || strings.Count(stderr, "warning: ") != 2 || strings.Count(stderr, "isPartial") != 2 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	cmdtest.Golden(t, "generated.table", stdout)
}

// testContinues lets a Prometheus refuse all queries after some of them.
func testContinues(t *testing.T, r *recording) {
	answered, left := map[string]bool{}, 100
	server := r.inFront(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request, query string) bool {
		if left--; left < 0 {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		if query = r.Header.Get("X-Scope-OrgID") + "\n" + query; answered[query] {
			t.Errorf("is asked twice for %s", query)
		}
		answered[query] = true
		return false
	})
	run := func(args ...string) (code int, stdout, stderr string) {
		return replay(t, server.URL, append([]string{"--until", r.until, "--range", "264h"}, args...)...)
	}
	if code, _, stderr := run(); code != command.ExitError || !strings.Contains(stderr, "The complete answers are kept for a day: run the command again to continue.\n") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	left = 100
	if code, _, stderr := run("--tenant", "other"); code != command.ExitError || left >= 0 {
		t.Errorf("another tenant has the same answers: exit %d with %d queries left: %s", code, left, stderr)
	}
	left = 1_000_000
	code, stdout, stderr := run()
	if code != command.ExitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	cmdtest.Golden(t, "generated.table", stdout)
	left = 0
	if code, _, stderr := run(); code != command.ExitError || left >= 0 {
		t.Errorf("asks nothing after a success: exit %d: %s", code, stderr)
	}
}

// testHidden lets a Prometheus hide metrics first, and then refuse queries for them.
func testHidden(t *testing.T, r *recording, hidden string) {
	hides, refused := true, 0
	server := r.inFront(t, httptest.NewServer, func(w http.ResponseWriter, _ *http.Request, query string) bool {
		switch {
		case !strings.Contains(query, hidden):
			return false
		case hides:
			_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"matrix","result":[]}}`)
		default:
			refused++
			w.WriteHeader(http.StatusUnauthorized)
		}
		return true
	})
	if code, _, stderr := replay(t, server.URL, r.short()...); code != command.ExitError || strings.Contains(stderr, "to continue") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	hides = false
	if code, _, stderr := replay(t, server.URL, r.short()...); code != command.ExitError || refused == 0 {
		t.Errorf("does not ask again: exit %d: %s", code, stderr)
	}
}

func testCredentials(t *testing.T, r *recording) {
	server := r.inFront(t, httptest.NewTLSServer, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Header.Get("Authorization") != "Bearer the-token" || r.Header.Get("X-Api-Key") != "the-key" {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return false
	})
	folder, args := t.TempDir(), r.short()
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
	if code, _, stderr := replay(t, server.URL, args...); code != command.ExitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
