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
	// refused: the caller is not the API server.
	refused result = "refused"
)

type metrics struct{ seconds *prometheus.HistogramVec }

// newMetrics returns metrics. problem returns why pods may not be sized.
func newMetrics(in prometheus.Registerer, problem func() error) *metrics {
	healthy := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_creation_healthy",
		Help: "Whether the server has keys for sizes at creation and the API server can verify it (1), or not (0); missing without --size-at-creation.",
	}, func() float64 {
		if problem() != nil {
			return 0
		}
		return 1
	})
	m := &metrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "workload_resizer_creation_seconds",
		Help:    "How long answers to the API server took that creates pods, by result: sized, unchanged, failed, overloaded or refused.",
		Buckets: []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1},
	}, []string{"result"})}
	for _, of := range [...]result{given, unchanged, failed, overloaded, refused} {
		m.seconds.WithLabelValues(string(of))
	}
	in.MustRegister(healthy, m.seconds)
	return m
}

func (m *metrics) of(as result, took time.Duration) {
	m.seconds.WithLabelValues(string(as)).Observe(took.Seconds())
}
