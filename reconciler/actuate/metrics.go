package actuate

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Metrics count writes to pods, and what became of resizes.
type Metrics struct {
	resizes *prometheus.CounterVec
	writes  *prometheus.CounterVec
	// resized is the one of resizes that is counted most, writing has what
	// writes take by step: to find them by their labels each time would cost.
	resized prometheus.Counter
	writing map[plan.Step]prometheus.Observer
}

// result is what became of a resize.
type result string

const (
	resultResized result = "resized"
	resultRefused result = "refused"
	resultFailed  result = "failed"
)

// NewMetrics registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		resizes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_resizes_total",
			Help: "Resizes by result: resized (the API server took the sizes), refused (it never will as things are, for this reason) or failed (a write of the resize or of its record came to nothing, and is tried again); each try counts, and conflicts do not.",
		}, []string{"result", "reason"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_api_writes_total",
			Help: "Writes to pods, by step (originals, resize, applied, record, infeasible, putBack, restore, clean, preview) and HTTP status code (0 if there was no answer).",
		}, []string{"step", "code"}),
	}
	writing := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "workload_resizer_api_write_seconds",
		Help:    "How long the API server takes for a write to a pod, by step; waiting for --kube-api-qps is not in it.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"step"})
	m.writing = make(map[plan.Step]prometheus.Observer, len(plan.Steps))
	for _, s := range plan.Steps {
		m.writing[s] = writing.WithLabelValues(string(s))
	}
	m.resized = m.resizes.WithLabelValues(string(resultResized), "")
	m.resizes.WithLabelValues(string(resultFailed), string(contract.ResizeFailed)) // There from the start, so that the first one is a rise.
	registry.MustRegister(m.resizes, m.writes, writing)
	return m
}

// Refused counts a resize that the API server never takes as things are.
func (m *Metrics) Refused(reason contract.Reason) {
	m.resizes.WithLabelValues(string(resultRefused), string(reason)).Inc()
}

// Failed counts a resize that came to nothing, and is tried again.
func (m *Metrics) Failed() {
	m.resizes.WithLabelValues(string(resultFailed), string(contract.ResizeFailed)).Inc()
}

func (m *Metrics) write(s plan.Step, took time.Duration, err error) {
	m.writes.WithLabelValues(string(s), strconv.Itoa(StatusCode(err))).Inc()
	m.writing[s].Observe(took.Seconds())
}
