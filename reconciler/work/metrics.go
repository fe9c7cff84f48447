package work

import "github.com/prometheus/client_golang/prometheus"

// Register registers the metric.
func (c *Counts) Register(registry prometheus.Registerer) {
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_failing_work_queries",
		Help: "Queries of the work of pods that failed when they were last asked. Only the leader asks, in the minutes after each hour.",
	}, func() float64 { return float64(c.asker.Failing()) }))
}
