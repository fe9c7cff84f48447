package objective

import "github.com/prometheus/client_golang/prometheus"

// Register registers the metric.
func (o *Objectives) Register(registry prometheus.Registerer) {
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_failing_objectives",
		Help: "Queries of objectives that failed when they were last asked. Only the leader asks, while a pod with the objective is observed.",
	}, func() float64 { return float64(o.asker.Failing()) }))
}
