package owners

import "github.com/prometheus/client_golang/prometheus"

var readable = prometheus.NewDesc("workload_resizer_workload_kind_readable",
	"1 if the objects of a kind of --workload-kinds are known or the kind is not installed, 0 if they cannot be read, so that holds and autoscalers on their owners are ignored.",
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
