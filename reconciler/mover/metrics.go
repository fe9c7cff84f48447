package mover

import "github.com/prometheus/client_golang/prometheus"

// Results of attempts to evict a pod.
const (
	resultEvicted = "evicted"
	resultBudget  = "budget"
	resultFailed  = "failed"
)

// metrics counts evictions.
type metrics struct {
	evictions *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "workload_resizer_evictions_total",
		Help: "Attempts to evict a pod whose node has no room for what it needs, by reason (NodeCapacity, ResizeInfeasible, OOMKilled, NodeHeadroom) and result: evicted, budget (a PodDisruptionBudget forbids it now) or failed.",
	}, []string{"reason", "result"})}
	for _, reason := range []string{noRoom, infeasible, killed, headroom} {
		m.evictions.WithLabelValues(reason, resultEvicted) // Exists from the start, so that the first one is an increase.
	}
	return m
}

// Register registers the metrics.
func (m *Mover) Register(registry prometheus.Registerer) {
	if m != nil {
		registry.MustRegister(m.metrics.evictions)
	}
}
