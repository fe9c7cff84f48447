package owners

import "github.com/prometheus/client_golang/prometheus"

var readable = prometheus.NewDesc("workload_resizer_workload_kind_readable",
	"Whether the objects of a kind of --workload-kinds are known (1; also where it is not installed), or cannot be read, so that holds and autoscalers on what controls them do not count (0).",
	[]string{"kind"}, nil)

// Describe implements prometheus.Collector.
func (o *Owners) Describe(descs chan<- *prometheus.Desc) { descs <- readable }

// Collect implements prometheus.Collector.
func (o *Owners) Collect(metrics chan<- prometheus.Metric) {
	for _, s := range o.states {
		value := 1.0
		if s.problem() != nil {
			value = 0
		}
		metrics <- prometheus.MustNewConstMetric(readable, prometheus.GaugeValue, value, s.resource.String())
	}
}
