package samples

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

const (
	nodes, kernels = 10_000, 8
	// atATime is how many agents send at the same time. More would not wait for the
	// store, they would wait for a processor. The race detector supports 8128 goroutines.
	atATime = 1000
)

// ofNode returns what the agent of a node sends. The nodes have 20 types with 2 CPU
// models each.
func ofNode(node int) []sample.Sample {
	all := make([]sample.Sample, kernels)
	for i := range all {
		machine := fmt.Sprintf("gke-production-pool-%d-5f0c2b1e-%04d", node%20, node)
		benchmark := fmt.Sprint("bench-node:kernel-", i)
		s := measured(machine, 0)
		s.ID, s.NodeType, s.InstanceType = fmt.Sprintf("%s/%s/1795222923", machine, benchmark), fmt.Sprint("type", node%20), fmt.Sprintf("type%d-standard-8", node%20)
		s.CPUModel, s.Benchmark = fmt.Sprint("Intel-6-", node/20%2), benchmark
		s.Score, s.SingleThread = 1000*math.Pi*float64(1+node%97), 200*math.E*float64(1+node%97)
		s.Time = began.Add(time.Duration(node) * time.Second)
		all[i] = s
	}
	return all
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func figures(t *testing.T, s *stored) {
	store := s.opened(t)
	before, start := heap(), time.Now()
	var agents sync.WaitGroup
	for first := range atATime {
		agents.Go(func() {
			for node := first; node < nodes; node += atATime {
				if _, err := store.Add(t.Context(), ofNode(node)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	agents.Wait()
	took := time.Since(start)
	all, _ := store.All()
	after := heap()
	largest := 0
	cms, err := s.client.CoreV1().ConfigMaps(s.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for shard := range Shards {
		for i := range cms.Items {
			if cms.Items[i].Name == fmt.Sprint(s.prefix, shard) {
				largest = max(largest, bytesOf(cms.Items[i].Data))
			}
		}
	}
	t.Logf("%d samples took %s and %d writes; %d are kept, at most %d bytes per ConfigMap; %.1f MiB of heap, %.1f before",
		nodes*kernels, took, s.writes.Load(), len(all), largest, float64(after)/(1<<20), float64(before)/(1<<20))
	if want := 20 * 2 * kernels * DefaultLimits.PerKey; len(all) > want || len(all) < want*3/4 {
		t.Errorf("%d samples are kept, want most of %d", len(all), want)
	}
	if largest > DefaultLimits.Bytes {
		t.Errorf("a ConfigMap has %d bytes", largest)
	}
	if s.writes.Load() > nodes/10 {
		t.Errorf("%d writes", s.writes.Load())
	}
	if after > before+128<<20 {
		t.Errorf("%d bytes of heap, %d before", after, before)
	}
	runtime.KeepAlive(store)
}

// BenchmarkAdd adds what the agents of 10,000 nodes send, in memory.
func BenchmarkAdd(b *testing.B) {
	for _, batch := range []int{100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", batch), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				store := New(Config{ReadOnly: true, Prefix: "samples-", Clock: clocktesting.NewFakeClock(began.Add(24 * time.Hour)), OnReject: func(*corev1.ConfigMap, error) {}})
				for first := 0; first < nodes; first += batch {
					var add []sample.Sample
					for node := range batch {
						add = append(add, ofNode(first+node)...)
					}
					if _, err := store.Add(context.Background(), add); err != nil {
						b.Fatal(err)
					}
				}
				if all, _ := store.All(); len(all) == 0 {
					b.Fatal("nothing is kept")
				}
			}
		})
	}
}
