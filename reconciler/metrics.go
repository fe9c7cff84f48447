package reconciler

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// metrics are what the reconciler counts.
type metrics struct {
	outcomes *prometheus.CounterVec
	writes   *prometheus.CounterVec
	pods     *prometheus.GaugeVec
	// actuation is how long nodes take, in seconds.
	actuation prometheus.Histogram
}

// newMetrics registers them; backlog counts the pods that wait to be sized anew,
// and leads tells whether this process is the one that writes.
func newMetrics(registry prometheus.Registerer, backlog func() int, leads func() bool) *metrics {
	m := &metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_outcomes_total",
			Help: "Pods dealt with, by the reason that says what came of it.",
		}, []string{"reason"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_api_writes_total",
			Help: "Writes to pods, by step (originals, resize, applied, record, putBack, restore, clean, preview) and HTTP status code (0 if there was no answer).",
		}, []string{"step", "code"}),
		pods: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "workload_resizer_pods",
			Help: "Pods known now, by decision (resize, aligned, skip) and the first reason for it (empty for resize).",
		}, []string{"decision", "reason"}),
		actuation: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "workload_resizer_actuation_seconds",
			Help:    "From the write of a resize until the node was seen to have carried it out.",
			Buckets: []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}),
	}
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_realign_backlog",
		Help: "Pods that wait for their turn to be sized anew (--realign-rate).",
	}, func() float64 { return float64(backlog()) })
	leading := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_leading",
		Help: "Whether this replica is the one that resizes (1) or another one may be (0).",
	}, func() float64 {
		if leads() {
			return 1
		}
		return 0
	})
	registry.MustRegister(m.outcomes, m.writes, m.pods, m.actuation, waiting, leading)
	return m
}

func (m *metrics) outcome(reason contract.Reason) {
	m.outcomes.WithLabelValues(string(reason)).Inc()
}

func (m *metrics) write(s step, err error) {
	m.writes.WithLabelValues(string(s), strconv.Itoa(statusCode(err))).Inc()
}

// statusCode is the HTTP status code of an answer; 0 if there was none.
func statusCode(err error) int {
	if err == nil {
		return http.StatusOK
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}
