package chaos

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// writeTimeout bounds each write of a reconciler. It is short, so that no write hangs for
// long.
const writeTimeout = 2 * time.Second

// incarnation is one run of a reconciler, which starts with empty caches.
type incarnation struct {
	*reconciler.Reconciler
	registry *prometheus.Registry
	cancel   context.CancelFunc
	ended    chan struct{}
}

// start starts a reconciler in the world, with separate configurations for reads and for
// writes. It ends with the test unless it is stopped earlier.
func (w *world) start(t *testing.T, reads, writes *rest.Config) *incarnation {
	t.Helper()
	writes = actuate.ClientConfig(writes, writeTimeout)
	i := &incarnation{registry: prometheus.NewRegistry(), ended: make(chan struct{})}
	store := ratios.NewStore(w.ratios)
	r, err := reconciler.New(reconciler.Config{
		Client: kubernetes.NewForConfigOrDie(reads), Dynamic: dynamic.NewForConfigOrDie(reads),
		Writer: kubernetes.NewForConfigOrDie(writes), Asker: kubernetes.NewForConfigOrDie(writes),
		Ratios: store, Holds: w.holds,
		Planner: plan.Planner{OwnerKinds: []string{"Node"}, Sidecars: true, External: w.external},
		Events:  loop.NoEvents(), Metrics: i.registry, Workers: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	i.Reconciler = r
	// Failures are intended here, so they are not logged.
	var ctx context.Context
	ctx, i.cancel = context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{store.Run, r.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Errorf("a reconciler ended with %v", err)
			}
		})
	}
	go func() {
		running.Wait()
		close(i.ended)
	}()
	t.Cleanup(func() { i.stop(t) })
	w.life = i
	return i
}

// stop ends the reconciler and returns when it no longer writes.
func (i *incarnation) stop(t *testing.T) {
	t.Helper()
	i.cancel()
	select {
	case <-i.ended:
	case <-time.After(localcluster.Patience):
		t.Error("a reconciler does not end")
	}
}

// planned returns the number of pods that it has planned.
func (i *incarnation) planned(t *testing.T) int {
	t.Helper()
	return i.gauge(t, "workload_resizer_pods")
}

// gauge returns the sum of a metric over its labels.
func (i *incarnation) gauge(t *testing.T, name string) int {
	t.Helper()
	families, err := i.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() == name {
			for _, m := range family.GetMetric() {
				sum += m.GetGauge().GetValue()
			}
		}
	}
	return int(sum)
}
