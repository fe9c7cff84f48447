package servertest

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// Namespace is the namespace of a test's ConfigMaps, and HoldsName the ConfigMap for holds.
const Namespace, HoldsName = "default", "holds"

// Written is when the ratios of Layer were written.
var Written = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// Layer returns a layer with two node types and bounds.
func Layer() *ratios.Layer {
	from := ratios.Provenance{Source: "configmap", UpdateTime: Written, Author: "kubectl"}
	return &ratios.Layer{
		Settings: keys.Some(policy.Settings{Guard: policy.Guard{MaxUnproven: policy.AllPods}, Bounds: policy.Bounds{CPU: sizing.Range{Min: 50, Max: 16000}, Memory: sizing.Range{Min: 64 << 20}}}), // The pods of most tests have the same controller.
		Cluster:  keys.Some(policy.Cluster{}, "pace"),
		Baseline: "n2d",
		Ratios:   map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1, Provenance: from}, "n4": {CPUPerf: 1.25, MemoryPerf: 1, Provenance: from}},
	}
}

// Setup configures Parts; each field has a default.
type Setup struct {
	// Cluster is the API server; by default an address where none answers.
	Cluster *rest.Config
	// Ratios is the first state of their source; by default Layer().
	Ratios ratios.Update
	// Loop can change the rest of the configuration.
	Loop func(*reconciler.Config)
}

// Parts has what services need: a reconciler, its holds, and its ratios, which the test
// controls.
type Parts struct {
	Loop   *reconciler.Reconciler
	Holds  *hold.Store
	Source *ratiotest.Memory
	Store  *ratios.Store
	// Metrics has the metrics of the reconciler.
	Metrics *prometheus.Registry
}

// New returns parts that do not run yet, for services that must be created before.
func New(t testing.TB, of Setup) *Parts {
	t.Helper()
	if of.Cluster == nil {
		of.Cluster = &rest.Config{Host: "https://127.0.0.1:1"}
	}
	if of.Ratios.Layer == nil && of.Ratios.Err == nil {
		of.Ratios.Layer = Layer()
	}
	client := kubernetes.NewForConfigOrDie(of.Cluster)
	p := &Parts{
		Holds:  hold.New(client, Namespace, HoldsName),
		Source: ratiotest.NewMemory("configmap", of.Ratios), Metrics: prometheus.NewRegistry(),
	}
	p.Store = ratios.NewStore(p.Source)
	looping := reconciler.Config{
		Client: client, Dynamic: dynamic.NewForConfigOrDie(of.Cluster), Writer: client, Asker: client,
		Ratios: p.Store, Holds: p.Holds, Planner: plan.Planner{OwnerKinds: plan.DefaultOwnerKinds},
		Events: loop.NoEvents(), Metrics: p.Metrics, Workers: 1,
	}
	if of.Loop != nil {
		of.Loop(&looping)
	}
	var err error
	if p.Loop, err = reconciler.New(looping); err != nil {
		t.Fatal(err)
	}
	return p
}

// Start returns parts that run until the test ends.
func Start(t testing.TB, of Setup) *Parts {
	t.Helper()
	p := New(t, of)
	p.Run(t)
	return p
}

// Run runs the parts, and the given functions, until the test ends. It returns once the
// ratios, or why there are none, are known.
func (p *Parts) Run(t testing.TB, besides ...func(context.Context) error) {
	t.Helper()
	inForce := p.Store.Watch()
	Run(t, append([]func(context.Context) error{p.Store.Run, p.Holds.Run, p.Loop.Run}, besides...)...)
	<-inForce
}

// Known waits until pods and nodes are known.
func (p *Parts) Known(t testing.TB) *Parts {
	t.Helper()
	localcluster.Eventually(t, "the caches", p.Loop.Ready)
	return p
}

// ConfigMap creates an empty ConfigMap in Namespace.
func ConfigMap(t testing.TB, client kubernetes.Interface, name string) {
	t.Helper()
	ConfigMapIn(t, client, Namespace, name)
}

// ConfigMapIn creates an empty ConfigMap in any namespace.
func ConfigMapIn(t testing.TB, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
