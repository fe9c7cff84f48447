package loop

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// metrics are what the loop counts while it works. What is read when it is
// asked for has collectors of its own.
type metrics struct {
	outcomes *prometheus.CounterVec
	pods     *prometheus.GaugeVec
	// What follows is in seconds: how long nodes take, how long pods wait for a
	// worker, what a plan takes, and until a new pod has its size.
	actuation, waiting, planning, settling prometheus.Histogram
}

// newMetrics registers them.
func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_outcomes_total",
			Help: "Pods dealt with, by the reason that says what came of it.",
		}, []string{"reason"}),
		pods: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "workload_resizer_pods",
			Help: "Pods known now, by decision (resize, aligned, skip) and the first reason for it (empty for resize).",
		}, []string{"decision", "reason"}),
		actuation: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "workload_resizer_actuation_seconds",
			Help:    "From the write of a resize until the node was seen to have carried it out.",
			Buckets: []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}),
		waiting: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "workload_resizer_queue_seconds",
			Help:    "How long pods wait in the queue until a worker takes them.",
			Buckets: []float64{.0001, .001, .01, .1, .5, 1, 5, 10, 30, 60, 300, 1800},
		}),
		planning: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "workload_resizer_plan_seconds",
			Help:    "How long the plan of a pod takes, with finding what it is made from.",
			Buckets: prometheus.ExponentialBuckets(1e-6, 4, 10),
		}),
		settling: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "workload_resizer_settle_seconds",
			Help:    "From when a pod that was never sized was first seen to need another size than it runs with, until that was written; pods that are sized anew are not in it.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}),
	}
	registry.MustRegister(m.outcomes, m.pods, m.actuation, m.waiting, m.planning, m.settling)
	return m
}

// exposeState registers what is read when metrics are asked for.
func (l *Loop) exposeState(registry prometheus.Registerer) {
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
	}
	registry.MustRegister(
		gauge("workload_resizer_queue_depth", "Pods that wait for a worker.", func() float64 { return float64(l.queue.Len()) }),
		gauge("workload_resizer_realign_backlog", "Pods that wait for their turn to be sized anew (--realign-rate).", func() float64 { return float64(l.pacer.backlog()) }),
		gauge("workload_resizer_leading", "Whether this replica is the one that resizes (1) or another one may be (0); with --dry-run none is.", func() float64 {
			if l.Leads() && !l.DryRun {
				return 1
			}
			return 0
		}),
		newDifferenceCollector(l.ledger.difference),
	)
}

func (m *metrics) outcome(reason contract.Reason) {
	m.outcomes.WithLabelValues(string(reason)).Inc()
}
