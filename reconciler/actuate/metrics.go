package actuate

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Metrics counts writes to pods and the results of resizes.
type Metrics struct {
	resizes *prometheus.CounterVec
	writes  *prometheus.CounterVec
	// resized is the most frequent counter of resizes, and writing has the duration of
	// writes by step. Both are looked up once, because lookups by labels are expensive.
	resized prometheus.Counter
	writing map[plan.Step]prometheus.Observer
}

// result is the result of a resize.
type result string

const (
	resultResized result = "resized"
	resultRefused result = "refused"
	resultFailed  result = "failed"
)

// NewMetrics registers the metrics and returns them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		resizes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_resizes_total",
			Help: "Resizes by result: resized (the API server accepted the sizes), refused (rejected for this reason until something changes) or failed (a write of the resize or its record failed and is retried). Every attempt counts, except conflicts.",
		}, []string{"result", "reason"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_api_writes_total",
			Help: "Writes to pods, by step (" + stepNames() + ") and HTTP status code (0 if there was no response).",
		}, []string{"step", "code"}),
	}
	writing := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "workload_resizer_api_write_seconds",
		Help:    "Time that the API server needs for a write to a pod, by step, without the wait for --kube-api-qps.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"step"})
	m.writing = make(map[plan.Step]prometheus.Observer, len(plan.Steps))
	for _, s := range plan.Steps {
		m.writing[s] = writing.WithLabelValues(string(s))
	}
	m.resized = m.resizes.WithLabelValues(string(resultResized), "")
	m.resizes.WithLabelValues(string(resultFailed), string(contract.ResizeFailed)) // Exists from the start, so that the first failure is an increase.
	registry.MustRegister(m.resizes, m.writes, writing)
	return m
}

// stepNames returns the names of all steps, separated by commas.
func stepNames() string {
	names := make([]string, len(plan.Steps))
	for i, step := range plan.Steps {
		names[i] = string(step)
	}
	return strings.Join(names, ", ")
}

// Refused counts a resize that the API server rejects until something changes.
func (m *Metrics) Refused(reason contract.Reason) {
	m.resizes.WithLabelValues(string(resultRefused), string(reason)).Inc()
}

// Failed counts a resize that failed and is retried.
func (m *Metrics) Failed() {
	m.resizes.WithLabelValues(string(resultFailed), string(contract.ResizeFailed)).Inc()
}

func (m *Metrics) write(s plan.Step, took time.Duration, err error) {
	m.writes.WithLabelValues(string(s), strconv.Itoa(StatusCode(err))).Inc()
	m.writing[s].Observe(took.Seconds())
}
