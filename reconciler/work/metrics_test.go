package work

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// failing returns the value of the metric.
func failing(t *testing.T, c *Counts) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	c.Register(registry)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "workload_resizer_failing_work_queries" {
		t.Fatalf("%v, %v", families, err)
	}
	return families[0].GetMetric()[0].GetGauge().GetValue()
}
