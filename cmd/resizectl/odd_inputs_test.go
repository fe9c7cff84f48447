package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// apiWrites records the requests to an API server that would change something.
type apiWrites struct {
	next http.RoundTripper
	mu   sync.Mutex
	all  []string
}

// RoundTrip implements http.RoundTripper.
func (w *apiWrites) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		w.mu.Lock()
		w.all = append(w.all, r.Method+" "+r.URL.Path)
		w.mu.Unlock()
	}
	return w.next.RoundTrip(r)
}

func (w *apiWrites) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}

// realServer starts a server with all services on a cluster that never changes. It returns its
// address, and the writes to the cluster.
func realServer(t *testing.T) (address string, writes *apiWrites) {
	t.Helper()
	config := servertest.Frozen(t, first(servertest.ShopPods()), second(servertest.ShopPods()))
	writes = &apiWrites{}
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		writes.next = next
		return writes
	}
	client := kubernetes.NewForConfigOrDie(config)
	source := ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()})
	overrides := override.New(client, servertest.Namespace, servertest.HoldsName)
	store := ratios.NewStore(overrides, source)
	holds := hold.New(client, servertest.Namespace, servertest.HoldsName)
	looping, err := reconciler.New(reconciler.Config{
		Client: client, Dynamic: dynamic.NewForConfigOrDie(config), Writer: client, Asker: client,
		Ratios: store, Holds: holds, Planner: plan.Planner{OwnerKinds: plan.DefaultOwnerKinds},
		Events: loop.NoEvents(), Metrics: prometheus.NewRegistry(), Workers: 1, DryRun: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := servertest.Listen(t)
	api := server.New(server.Config{
		Replica: "me", Version: "v1", Ratios: store, Overrides: overrides, Reconciler: looping, Holds: holds,
		Limits: limits.Default, GRPC: listener, Metrics: prometheus.NewRegistry(),
	})
	servertest.Run(t, store.Run, holds.Run, looping.Run, api.Run)
	localcluster.Eventually(t, "the caches", looping.Ready)
	return listener.Addr().String(), writes
}

func first[A, B any](a A, _ B) A  { return a }
func second[A, B any](_ A, b B) B { return b }

// oddFiles writes the files that odd inputs name, into the current directory.
func oddFiles(t *testing.T) {
	t.Helper()
	random := make([]byte, 4096)
	for i, state := 0, uint32(1); i < len(random); i++ {
		state = state*1664525 + 1013904223
		random[i] = byte(state >> 24)
	}
	for name, content := range map[string][]byte{
		"empty":        nil,
		"blank.yaml":   []byte(" \n\n"),
		"random":       random,
		"nul.yaml":     []byte("a: \x00\n"),
		"latin1.yaml":  []byte("name: caf\xe9\n"),
		"utf16.yaml":   []byte("\xff\xfea\x00:\x00 \x001\x00"),
		"gzip.gz":      {0x1f, 0x8b, 8, 0, 1, 2, 3},
		"elf":          append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 64)...),
		"text.txt":     []byte("once upon a time\n"),
		"list.json":    []byte("[1, 2]\n"),
		"open.json":    []byte("{\"apiVersion\": \"v1\",\n"),
		"tabs.yaml":    []byte("a:\n\t- b\n"),
		"service.yaml": []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
		"pod.yaml":     []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: app, image: a}]}\n"),
		"config.yaml":  []byte("baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}, n4: {cpuPerf: 1.25, memPerf: 1}}\n"),
		"bad.yaml":     []byte("baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: x, memPerf: 1}}\n"),
		"table.csv":    []byte("VM Size,CPU,vCPUs,NUMA Nodes,Memory(GiB),Avg Score,StdDev,StdDev%,#Runs\n"),
		"pipes.csv":    []byte("VM Size|Avg Score\nn4-standard-8|5\n"),
		"twice.json":   []byte(`{"systems": {}, "results": {"a": {}, "a": {}}}`),
		"kube.yaml":    []byte(unreachableCluster),
		"nokube.yaml":  []byte(undecidedCluster),
		"token":        []byte("secret"),
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dir", "dir/sub"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// oddInput is a command line with an input that cannot be right. Words in capitals are replaced:
// NOBODY is an address without a server, TLS a server with a certificate of an unknown authority, and
// WEB a web server.
type oddInput struct {
	// line is the command line, with words in double quotes where they contain spaces.
	line string
	// names is what the error must contain: the input.
	names string
}

// TestOddInputs checks that each odd input has one line of error, which names the input, and that it
// changes nothing. testdata/odd-inputs.txt has the lines.
func TestOddInputs(t *testing.T) {
	var said string
	t.Run("have one line of error each, and change nothing", func(t *testing.T) { said = tryOddInputs(t) })
	cmdtest.Golden(t, "odd-inputs.txt", said)
}

func tryOddInputs(t *testing.T) (said string) {
	t.Helper()
	servertest.Quiet()
	address, writes := realServer(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(bytes.Repeat([]byte("# more\n"), 1<<18))
		case "/apis/discovery.k8s.io/v1/namespaces/workload-resizer-system/endpointslices":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSliceList", "items": []}`))
		case "/silent/api/v1/namespaces/workload-resizer-system/configmaps/workload-resizer-ca", "/silent/version":
			<-r.Context().Done()
		case "/html":
			_, _ = w.Write([]byte("<!doctype html><p>Sign in</p>"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(web.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.TLS = &tls.Config{NextProtos: []string{"h2"}, ClientAuth: tls.RequireAnyClientCert}
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	t.Chdir(t.TempDir())
	oddFiles(t)
	if err := os.WriteFile("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("behind.yaml", []byte(strings.ReplaceAll(unreachableCluster, "https://127.0.0.1:1", web.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("silent.yaml", []byte(strings.ReplaceAll(unreachableCluster, "https://127.0.0.1:1", web.URL+"/silent")), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RESIZECTL_SERVER", address)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	replaced := []string{"SERVER", address, "NOBODY", cmdtest.Nobody(t), "TLS", secure.Listener.Addr().String(), "WEB", web.URL}
	back := make([]string, len(replaced))
	for i := 0; i < len(replaced); i += 2 {
		back[i], back[i+1] = replaced[i+1], replaced[i]
	}
	var all strings.Builder
	for _, odd := range oddInputs {
		args := words(odd.line)
		for i := range args {
			args[i] = strings.NewReplacer(replaced...).Replace(args[i])
		}
		code, stdout, stderr := oddProgram(t.Context(), args)
		stderr = strings.NewReplacer(back...).Replace(stderr)
		fmt.Fprintf(&all, "$ resizectl %s\n%s\n", odd.line, stderr)
		switch {
		case code != command.ExitError:
			t.Errorf("%s: exit %d, stdout %q, stderr %q", odd.line, code, stdout, stderr)
		case strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "error: ") || stdout != "":
			t.Errorf("%s: not one line of error: stdout %q, stderr %q", odd.line, stdout, stderr)
		case !strings.Contains(stderr, odd.names):
			t.Errorf("%s: the error does not name %q: %s", odd.line, odd.names, stderr)
		case rawWords.MatchString(stderr):
			t.Errorf("%s: words that only programs understand: %s", odd.line, stderr)
		case !remedyWords.MatchString(stderr):
			t.Errorf("%s: no remedy: %s", odd.line, stderr)
		}
	}
	said = all.String()
	if changed := writes.seen(); len(changed) > 0 {
		t.Errorf("something was written: %v", changed)
	}
	if len(oddInputs) < 150 {
		t.Errorf("only %d inputs", len(oddInputs))
	}
	return said
}

// oddProgram runs a command line; with "plugin" before it, as a kubectl plugin.
func oddProgram(ctx context.Context, args []string) (code int, stdout, stderr string) {
	if args[0] != "plugin" {
		return program.Shell(ctx, args...)
	}
	var out, errOut bytes.Buffer
	code = run(ctx, pluginProgram, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}, args[1:])
	return code, out.String(), errOut.String()
}

// remedyWords matches what errors say to do next.
var remedyWords = regexp.MustCompile(`; see "|\b(set|use|name|omit|must|write|check|run|expected|split|did you mean|allows?|start|such as|lists|shows|selects?|see|take|save|separate|rename)\b`)

// rawWords matches the words of Go, of gRPC and of its codes.
var rawWords = regexp.MustCompile(grpcWords.String() + `|strconv|panic|goroutine|%!|0x[0-9a-f]{6}|\binvalid character\b|<nil>|unmarshal`)
