package benchmarks

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// forgetful stores no samples, and records the peak size of the heap while they arrive.
type forgetful struct {
	servertest.Measured
	peak uint64
}

func (f *forgetful) Add(_ context.Context, add []sample.Sample) ([]samples.Outcome, error) {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	f.peak = max(f.peak, now.HeapAlloc)
	return make([]samples.Outcome, len(add)), nil
}

// BenchmarkIngestSamples sends eight samples of each of 10,000 nodes over TCP. The heap is of
// client and server together, minus its size before the benchmark.
func BenchmarkIngestSamples(b *testing.B) {
	const nodes, runs, perMessage = 10_000, 8, 1000
	servertest.Quiet()
	var all []corev1.Node
	for n := range nodes {
		all = append(all, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("gke-main-pool-%05d", n), Labels: map[string]string{
			nodetype.LabelGCPMachineFamily: "n4", nodetype.LabelOwnCPUModel: "Intel-6-207",
		}}})
	}
	store := &forgetful{Measured: servertest.Measured{Known: &judge.View{}}}
	r := servertest.Start(b, servertest.Setup{Cluster: servertest.Frozen(b, nil, all)}).Known(b)
	client := serve(b, r, store, serving{})
	message := func(first int) *workloadresizerv1.IngestSamplesRequest {
		m := &workloadresizerv1.IngestSamplesRequest{}
		for i := first; i < first+perMessage; i++ {
			s := servertest.Sampled(fmt.Sprintf("gke-main-pool-%05d-20261121T010203-%d", i/runs, i%runs), time.Hour)
			s.NodeType, s.Machine, s.Node = "", "", all[i/runs].Name
			m.Samples = append(m.Samples, s)
		}
		return m
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	for b.Loop() {
		stream, err := client.IngestSamples(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for first := 0; first < nodes*runs; first += perMessage {
			if err := stream.Send(message(first)); err != nil {
				b.Fatal(err)
			}
		}
		if response, err := stream.CloseAndRecv(); err != nil || response.GetStored() != nodes*runs {
			b.Fatalf("%v, %v", response, err)
		}
	}
	b.ReportMetric(float64(b.N)*nodes*runs/b.Elapsed().Seconds(), "samples/s")
	b.ReportMetric(float64(store.peak-before.HeapAlloc)/(1<<20), "peak-MiB")
}
