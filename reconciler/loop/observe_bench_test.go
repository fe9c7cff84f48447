package loop

import (
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// BenchmarkVisit measures the cost of a visit without anything to trace. It should be zero
// if tracing is off.
func BenchmarkVisit(b *testing.B) {
	for _, on := range []bool{false, true} {
		name := "off"
		if on {
			name = "on"
		}
		b.Run(name, func(b *testing.B) {
			r, clock := idle(b, "https://127.0.0.1:1")
			if on {
				r.Traces = sdktrace.NewTracerProvider()
			}
			now := clock.Now()
			b.ReportAllocs()
			for b.Loop() {
				_, v := r.begin(b.Context(), now)
				v.hasPlan(now)
				v.end()
			}
		})
	}
}

// BenchmarkNotes measures what the ledger and the metrics add to the cost of each plan.
func BenchmarkNotes(b *testing.B) {
	r, clock := idle(b, "https://127.0.0.1:1")
	of := pod.From(podtest.Pod(podtest.Amounts{"800m", "", "1Gi", ""}))
	plan := planFor(b, podtest.Amounts{"1", "", "1Gi", ""})
	now := clock.Now()
	r.ledger.planned(plan, cluster.Rules{}, differenceOf(of, plan), now)
	b.ReportAllocs()
	for b.Loop() {
		r.metrics.planning.Observe(1e-6)
		r.ledger.planned(plan, cluster.Rules{}, differenceOf(of, plan), now)
	}
}
