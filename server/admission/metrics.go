package admission

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// result is what became of a request.
type result string

const (
	// given: the pod got a different size.
	given result = "sized"
	// unchanged: it is created as its author wrote it.
	unchanged result = "unchanged"
	// failed: the request could not be read.
	failed result = "failed"
	// overloaded: too many pods were being created.
	overloaded result = "overloaded"
)

type metrics struct{ seconds *prometheus.HistogramVec }

func newMetrics(in prometheus.Registerer) *metrics {
	m := &metrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "workload_resizer_creation_seconds",
		Help:    "How long answers to the API server took that creates pods, by result: sized, unchanged, failed or overloaded.",
		Buckets: []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1},
	}, []string{"result"})}
	for _, of := range [...]result{given, unchanged, failed, overloaded} {
		m.seconds.WithLabelValues(string(of))
	}
	in.MustRegister(m.seconds)
	return m
}

func (m *metrics) of(as result, took time.Duration) {
	m.seconds.WithLabelValues(string(as)).Observe(took.Seconds())
}
