package reconciler

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// filled returns a reconciler that does not run and knows these pods and nodes, with
// the ratios of the published example.
func filled(t testing.TB, pods []*corev1.Pod, nodes []*corev1.Node) *Reconciler {
	t.Helper()
	r, _ := idle(t, "https://127.0.0.1:1")
	r.Ratios = storeOf(t, published())
	for _, p := range pods {
		of := pod.From(p)
		do(t, r.podIndex.Add(of))
		r.usage.set(of)
	}
	for _, node := range nodes {
		do(t, r.factory.Core().V1().Nodes().Informer().GetIndexer().Add(node))
	}
	close(r.filled)
	return r
}

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// published is the published example: n4 is 1.25 times as fast as n2d.
func published() *ratios.Layer {
	return &ratios.Layer{
		Baseline: "n2d",
		Ratios:   map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
		Bounds:   &ratios.Bounds{CPU: ratios.Range{Min: 50, Max: 16000}},
	}
}

// storeOf returns a store with the table of the layer.
func storeOf(t testing.TB, layer *ratios.Layer) *ratios.Store {
	t.Helper()
	store := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: layer}))
	changed := store.Watch()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- store.Run(ctx) }()
	<-changed
	cancel()
	do(t, <-ended)
	return store
}

// holding are the holds of a test.
type holding struct {
	noHolds
	table *hold.Table
}

func (h holding) Ready() (*hold.Table, error) { return h.table, nil }

// named places a pod.
func named(namespace, name, node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Namespace, p.Name, p.Spec.NodeName = namespace, name, node
		p.UID = types.UID(namespace + "/" + name)
	}
}

// nodeNamed is a node of a type with room for so much.
func nodeNamed(name, nodeType, cpu string) *corev1.Node {
	n := podtest.Node(nodeType)
	n.Name = name
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("64Gi")}
	return n
}
