package demand

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// BenchmarkSignal measures one sample. In a minute, 300,000 arrive of 150,000 containers.
func BenchmarkSignal(b *testing.B) {
	c := clustertest.Thousands(b, 30_000, 50)
	c.Ratios = clustertest.Store(b, ruled())
	d := New(Config{Cluster: c, Ratios: c.Ratios, Planner: c.Planner, Leads: func() bool { return true }, Clock: clustertest.Clock(c)})
	var samples []usage.Sample
	for _, p := range c.Pods("").List() {
		s := usage.Sample{Namespace: p.Namespace(), Name: p.Name, Container: p.Containers[0].Name()}
		s.UID, s.At, s.Length, s.Resource, s.Usage = string(p.UID), podtest.Start, time.Minute, history.Memory, 1<<30
		samples = append(samples, s)
	}
	for i := 0; b.Loop(); i++ {
		s := &samples[i%len(samples)]
		d.signal(d.podOf(s), s)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*300_000/60, "cores")
}
