package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// The ConfigMap with the holds of a test's server.
const holdsNamespace, holdsName = "default", "holds"

// setup is what a test's server is made of; each field has a default.
type setup struct {
	// cluster is where the API server is; by default nowhere, so that it never
	// answers.
	cluster *rest.Config
	// ratios are the first state of their source; by default layer().
	ratios ratios.Update
	// viewer tells what callers see; by default it is the server's Access.
	viewer access.Viewer
	// askEvery is how often watches look up and ask whether they may go on; by
	// default as the server has it.
	askEvery time.Duration
	// loop and server may change what else there is.
	loop   func(*reconciler.Config)
	server func(*Config)
}

// running is a server with a reconciler, whose ratios are in the test's hands.
type running struct {
	server *Server
	loop   *reconciler.Reconciler
	source *ratiotest.Memory
	store  *ratios.Store
	// conn is in plaintext, by a caller of this machine.
	conn *grpc.ClientConn
	http string
	// metrics are those of the loop.
	metrics *prometheus.Registry
}

// start starts a server that ends with the test, and returns when the ratios, or
// why there are none, are known.
func start(t testing.TB, of setup) *running {
	t.Helper()
	if of.cluster == nil {
		of.cluster = &rest.Config{Host: "https://127.0.0.1:1"}
	}
	if of.ratios.Layer == nil && of.ratios.Err == nil {
		of.ratios.Layer = layer()
	}
	client := kubernetes.NewForConfigOrDie(of.cluster)
	r := &running{source: ratiotest.NewMemory("configmap", of.ratios), metrics: prometheus.NewRegistry()}
	r.store = ratios.NewStore(r.source)
	holds := hold.New(client, holdsNamespace, holdsName)
	looping := reconciler.Config{
		Client: client, Dynamic: dynamic.NewForConfigOrDie(of.cluster), Writer: client, Asker: client,
		Ratios: r.store, Holds: holds, Planner: reconciler.Planner{OwnerKinds: reconciler.DefaultOwnerKinds},
		Events: reconciler.NoEvents(), Metrics: r.metrics, Workers: 1,
	}
	if of.loop != nil {
		of.loop(&looping)
	}
	var err error
	if r.loop, err = reconciler.New(looping); err != nil {
		t.Fatal(err)
	}
	config := Config{
		Replica: "me", Version: "v1", Ratios: r.store, Reconciler: r.loop, Holds: holds,
		Limits: DefaultLimits, Reflection: true, GRPC: listen(t), HTTP: listen(t), Metrics: prometheus.NewRegistry(),
	}
	if of.server != nil {
		of.server(&config)
	}
	if of.viewer == nil {
		r.server = New(config)
	} else {
		config.Access = access.New(access.Config{Local: true})
		r.server = newServer(config, of.viewer)
	}
	if of.askEvery > 0 {
		r.server.watches.askEvery, r.server.watches.bookmarkEvery = of.askEvery, of.askEvery
	}
	r.conn, r.http = dial(t, config.GRPC), "http://"+config.HTTP.Addr().String()
	inForce := r.store.Watch()
	run(t, r.store.Run, holds.Run, r.loop.Run, r.server.Run)
	<-inForce
	return r
}

// run runs parts of a test until it ends; none may fail.
func run(t testing.TB, parts ...func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, len(parts))
	for _, part := range parts {
		go func() { done <- part(ctx) }()
	}
	t.Cleanup(func() {
		cancel()
		for range parts {
			if err := <-done; err != nil {
				t.Errorf("ended with %v", err)
			}
		}
	})
}

// serve serves what the test has made itself, until it ends.
func serve(t testing.TB, server *grpc.Server) net.Listener {
	t.Helper()
	listener := listen(t)
	run(t, func(context.Context) error { return server.Serve(listener) })
	t.Cleanup(server.Stop) // It comes before the end of run.
	return listener
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// dial connects in plaintext, until the test ends.
func dial(t testing.TB, to net.Listener, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(to.Addr().String(), append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// known waits until pods and nodes are.
func (r *running) known(t testing.TB) *running {
	t.Helper()
	localcluster.Eventually(t, "the caches", r.loop.Ready)
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

// configMap makes an empty one.
func configMap(t testing.TB, client kubernetes.Interface, name string) {
	t.Helper()
	if _, err := client.CoreV1().ConfigMaps(holdsNamespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
