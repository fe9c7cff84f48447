package owners

import (
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// uid returns the uid of the nth object of a kind.
func uid(kind, n int) types.UID {
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, n))
}

// decoded returns an object as decoded from the API server, which shares no memory.
func decoded(b *testing.B, m *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	content, err := m.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	came := &metav1.PartialObjectMetadata{}
	if err := came.Unmarshal(content); err != nil {
		b.Fatal(err)
	}
	return came
}

// filled returns a graph of ReplicaSets, ten per Rollout, and of the Rollouts, each
// controlled by its own App.
func filled(b *testing.B, sets int) *graph {
	g := newGraph()
	ignored := func(types.UID) {}
	replicaSets := &store{graph: g, kind: &kind{"ReplicaSet"}, changed: ignored}
	rollouts := &store{graph: g, kind: &kind{"Rollout"}, changed: ignored}
	for i := range sets {
		rollout := fmt.Sprintf("checkout-production-%d", i/10)
		m := metadataOf(fmt.Sprintf("%s-%010x", rollout, i), "", fmt.Sprintf("Rollout/%s %s", rollout, uid(1, i/10)))
		m.UID = uid(2, i)
		if err := replicaSets.Add(decoded(b, m)); err != nil {
			b.Fatal(err)
		}
		if i%10 == 0 {
			m := metadataOf(rollout, "", fmt.Sprintf("App/%s %s", rollout, uid(0, i/10)))
			m.UID = uid(1, i/10)
			if err := rollouts.Add(decoded(b, m)); err != nil {
				b.Fatal(err)
			}
		}
	}
	return g
}

func heapInUse() float64 {
	for range 3 { // Each run frees what the cleanups after the previous run have released.
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkChain measures the cost of finding the three workloads of a pod among 100,000
// ReplicaSets, and the heap that each ReplicaSet uses, with a tenth of its Rollout.
func BenchmarkChain(b *testing.B) {
	const sets = 100_000
	before := heapInUse()
	g := filled(b, sets)
	perSet := (heapInUse() - before) / sets
	pods := make([]*pod.Pod, 1000)
	for i := range pods {
		n := i * (sets / len(pods))
		pods[i] = podOf(fmt.Sprintf("ReplicaSet/checkout-production-%d-%010x %s", n/10, n, uid(2, n)))
	}
	chain := make([]workload.Workload, 0, maxDepth)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if chain = g.chain(chain[:0], pods[i%len(pods)]); len(chain) != 3 {
			b.Fatal(chain)
		}
	}
	b.ReportMetric(perSet, "heap-B/ReplicaSet")
}
