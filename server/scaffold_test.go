package server

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"k8s.io/client-go/rest"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// setup configures the server of a test; each field has a default.
type setup struct {
	// cluster is the API server; by default an address where none answers.
	cluster *rest.Config
	// ratios is the first state of their source; by default servertest.Layer().
	ratios ratios.Update
	// askEvery is how often watches wake up and check the caller again; by default as in the
	// server.
	askEvery time.Duration
	// loop and server can change the rest of the configuration.
	loop   func(*reconciler.Config)
	server func(*Config)
}

// running is a server with a reconciler, and ratios that the test controls.
type running struct {
	*servertest.Parts
	server *Server
	// conn is a plaintext connection of a local caller.
	conn *grpc.ClientConn
	http string
}

// start starts a server that runs until the test ends. It returns once the ratios, or why
// there are none, are known.
func start(t testing.TB, of setup) *running {
	t.Helper()
	r := &running{Parts: servertest.New(t, servertest.Setup{Cluster: of.cluster, Ratios: of.ratios, Loop: of.loop})}
	config := Config{
		Replica: "me", Version: "v1", Ratios: r.Store, Reconciler: r.Loop, Holds: r.Holds,
		Limits: limits.Default, Reflection: true, GRPC: servertest.Listen(t), HTTP: servertest.Listen(t), Metrics: prometheus.NewRegistry(),
	}
	if of.server != nil {
		of.server(&config)
	}
	r.server = New(config)
	if of.askEvery > 0 {
		r.server.watches.AskEvery, r.server.watches.BookmarkEvery = of.askEvery, of.askEvery
	}
	r.conn, r.http = servertest.Dial(t, config.GRPC), "http://"+config.HTTP.Addr().String()
	r.Run(t, r.server.Run)
	return r
}

func (r *running) get(t *testing.T, path string) (int, string) {
	t.Helper()
	response, err := http.Get(r.http + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// everything is the scope of all pods.
var everything = &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_AllNamespaces{AllNamespaces: &workloadresizerv1.AllNamespaces{}}}

func namespaceScope(name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: name}}
}

func workloadScope(namespace, kind, name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{Workload: &workloadresizerv1.NamespacedWorkload{Namespace: namespace, Kind: kind, Name: name}}}
}

func podScope(namespace, name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Pod{Pod: &workloadresizerv1.NamespacedPod{Namespace: namespace, Name: name}}}
}
