package signal_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/signal"
)

// BenchmarkSignals measures a minute of a cluster with 150,000 containers, of which 2% are observed: two
// samples of each container, of CPU and of memory.
func BenchmarkSignals(b *testing.B) {
	const containers = 150_000
	pods := make([]*pod.Pod, containers)
	for i := range pods {
		second := 0
		if i%50 == 0 {
			second = 6000
		}
		pods[i] = resized(fmt.Sprintf("%08x-6a3c-4d1b-9f0e-5b8f6a1c2d3e", i), second)
	}
	all := guard.Strain{Throttled: guard.Of(0.1), CPUPressure: guard.Of(0.2), MemoryPressure: guard.Of(0.3), Memory: guard.Of(1 << 30), LimitEvents: guard.Of(0)}
	before := podtest.HeapInUse()
	s := signal.New()
	feed := func(second int) {
		for _, of := range pods {
			for range 2 {
				s.Take(of, "app", &signal.Sample{At: podtest.At(second), Length: time.Minute, Strain: all}, settings, podtest.At(second+1))
			}
		}
	}
	feed(5990)
	second := 6060
	for b.Loop() {
		feed(second)
		second = 6000 + (second-6000+60)%300
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/60_000, "cores")
	b.ReportMetric((podtest.HeapInUse()-before)/(1<<20), "MiB")
	if n, observed := s.Len(); n != containers || observed != containers/50 {
		b.Errorf("%d, of which %d are observed", n, observed)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(pods)
}
