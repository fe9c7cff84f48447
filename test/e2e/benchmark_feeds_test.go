package e2e

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// benchmarkSettings have three feeds, one of which is in the same ConfigMap. A single
// published result is enough for them, and t2d follows it immediately.
const benchmarkSettings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: %[1]s, namespace: %[2]s}
data:
  coremark.csv: %[3]q
  benchmarks.yaml: |
    nodeTypes: {t2d: {mode: apply}}
    aggregation: {minMachines: 1, minBenchmarks: 1}
    changes: {windows: 1, maxStepPerHour: 1}
    feeds:
    - {name: table, format: cloud-csv, benchmark: coremark, configMap: {name: %[1]s, key: coremark.csv}}
    - {name: lab, format: samples, url: %[4]q, insecure: true, interval: %[5]s}
    - {name: disk, format: perfkit, file: %[6]q}
`

// website is a feed at a URL.
type website struct {
	*httptest.Server
	mu      sync.Mutex
	status  int
	content string
	// unchanged counts the requests of clients that already had the content.
	unchanged int
}

func newWebsite(t *testing.T) *website {
	t.Helper()
	w := &website{status: http.StatusOK}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

func (w *website) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	etag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(w.content)))
	switch to.Header().Set("ETag", etag); {
	case w.status == http.StatusOK && r.Header.Get("If-None-Match") == etag:
		w.unchanged++
		to.WriteHeader(http.StatusNotModified)
	default:
		to.WriteHeader(w.status)
		_, _ = to.Write([]byte(w.content))
	}
}

// publish sets the response from now on.
func (w *website) publish(status int, content string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status, w.content = status, content
}

// unchangedAnswers returns how often a client already had the content.
func (w *website) unchangedAnswers() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unchanged
}

const perfKitRow = `{"metric":"Coremark Score","value":%s,"unit":"","test":"coremark","timestamp":%d,"run_uri":%q,"labels":"|machine_type:%s|,|num_cpus:8|,|thread_count:8|"}` + "\n"

func (b *benchmarked) readFeeds(t *testing.T) {
	now := time.Now()
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(root, "deploy", "samples", "coremark.csv"))
	if err != nil {
		t.Fatal(err)
	}
	disk := b.file(t, "perfkit.json", fmt.Sprintf(perfKitRow, "160665.153736", now.Unix(), "run-1", "c2-standard-8"))
	lab := newWebsite(t)
	lab.publish(http.StatusOK, fmt.Sprintf(`{"id":"1","nodeType":"lab","benchmark":"coremark","score":100,"vcpus":8,"threads":8,"machine":"a","time":%q}`, now.UTC().Format(time.RFC3339)))
	// A feed whose settings have changed is read again immediately.
	configure := func(interval string) {
		t.Helper()
		b.apply(t, fmt.Appendf(nil, benchmarkSettings, contract.DefaultNames.Benchmarks, deploy.Namespace, table, lab.URL+"/coremark?key=secret", interval, disk))
	}
	awaitFeeds := func(what string, done func(feeds map[string]*workloadresizerv1.Feed) bool) {
		t.Helper()
		localcluster.Eventually(t, what, func() error {
			got, err := b.s.api.Benchmarks().ListFeeds(t.Context(), &workloadresizerv1.ListFeedsRequest{})
			if err != nil {
				return err
			}
			byName := map[string]*workloadresizerv1.Feed{}
			for _, f := range got.GetFeeds() {
				byName[f.GetName()] = f
			}
			if !done(byName) {
				return fmt.Errorf("feeds are %v", got)
			}
			return nil
		})
	}

	configure("1h")
	awaitFeeds("all feeds to be read", func(feeds map[string]*workloadresizerv1.Feed) bool {
		return feeds["table"].GetSamples() == 12 && feeds["lab"].GetSamples() == 1 && feeds["disk"].GetSamples() == 1
	})
	shown := b.ask(t, 0, b.viewer, "benchmark", "feeds", "-o", "wide")
	rows(t, shown, `disk perfkit good 1 1 0 0 `, `lab samples good 1 1 0 0 `, `table cloud-csv good 12 12 0 0 `)
	wants(t, shown, disk, lab.URL+"/coremark?")
	if strings.Contains(shown, "secret") {
		t.Errorf("the output contains the key:\n%s", shown)
	}
	for nodeType, ratio := range map[string]string{"n4": "1.08", "c3": "0.98", "t2d": "1.46"} {
		if got := b.coreMark(t, nodeType); got != ratio {
			t.Errorf("CoreMark has %s at %s, want %s", nodeType, got, ratio)
		}
	}

	// The samples of a feed stay even if the feed fails.
	for _, tc := range []struct {
		interval, content, why string
		status                 int
	}{
		{"2h", "", "the server responded with 500 Internal Server Error", http.StatusInternalServerError},
		{"3h", "<html>", "none of the 1 rows is valid, e.g. line 1", http.StatusOK},
	} {
		lab.publish(tc.status, tc.content)
		configure(tc.interval)
		awaitFeeds("the feed to fail", func(feeds map[string]*workloadresizerv1.Feed) bool {
			return strings.Contains(feeds["lab"].GetMessage(), tc.why)
		})
		shown := b.ask(t, 0, b.viewer, "benchmark", "feeds")
		rows(t, shown, `lab samples failing `, `table cloud-csv good `)
		wants(t, shown, "warning: feed lab: ", tc.why)
		rows(t, b.ask(t, 0, b.viewer, "benchmark", "list", "lab"), `lab - coremark 1 1 12.5 `)
	}

	// Each change to the settings makes the server judge the node types that follow
	// benchmarks.
	localcluster.Eventually(t, "t2d to follow", func() error {
		if list := b.ask(t, 0, b.viewer, "ratios", "list"); !strings.Contains(list, "benchmark") {
			return fmt.Errorf("the ratios are\n%s", list)
		}
		return nil
	})
	rows(t, b.ask(t, 0, b.viewer, "ratios", "list"), `t2d 1.456 .* benchmark`, `n4 1.4 .* override`, `c3 1.3 .* configmap`)
}

// coreMark returns the ratio of a node type by CoreMark alone.
func (b *benchmarked) coreMark(t *testing.T, nodeType string) string {
	t.Helper()
	got, err := b.s.api.Benchmarks().GetSuggestion(t.Context(), &workloadresizerv1.GetSuggestionRequest{NodeType: nodeType})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range got.GetSuggestion().GetParts() {
		if part.GetBenchmark() == "coremark" {
			return fmt.Sprintf("%.2f", part.GetRatio())
		}
	}
	return "nothing"
}

// importFiles imports published results, each file with one invalid row.
func (b *benchmarked) importFiles(t *testing.T) {
	now := time.Now()
	perfkit := b.file(t, "perfkit.json",
		fmt.Sprintf(perfKitRow, "160665.153736", now.Unix(), "run-1", "e2-standard-8")+fmt.Sprintf(perfKitRow, `"fast"`, now.Unix(), "run-2", "e2-standard-8"))
	sparecores := b.file(t, "scores.csv", "vendor_id,server_id,api_reference,benchmark_id,config,score,observed_at\n"+
		"gcp,1,e2-standard-8,redis:rps,\"{\"\"pipeline\"\": 16.0}\",11489.886,"+now.UTC().Format(time.RFC3339)+"\n"+
		"gcp,2,e2-standard-8,redis:rps,\"{\"\"pipeline\"\": 16.0}\",-1,"+now.UTC().Format(time.RFC3339)+"\n")
	for file, want := range map[string][2]string{
		perfkit:    {`\S+ perfkit 2 0 1 1 0 0 0`, ":2: value: "},
		sparecores: {`\S+ sparecores 2 0 1 1 0 0 0`, ":3: score: "},
	} {
		out := b.ask(t, 1, b.editor, "benchmark", "import", file)
		rows(t, out, want[0])
		wants(t, out, file+want[1])
		// Importing again does no harm.
		rows(t, b.ask(t, 1, b.editor, "benchmark", "import", file), strings.Replace(want[0], "1 0 0 0", "0 1 0 0", 1))
	}
	rows(t, b.ask(t, 0, b.viewer, "benchmark", "list", "e2"), `e2 - coremark 1 1 20083.1 `, `e2 - redis 1 1 1436.2 `)
	wants(t, b.ask(t, 2, b.viewer, "benchmark", "import", perfkit), "cannot create samples")
}
