package loop

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// metrics has the metrics that the loop updates while it works. Metrics that are read at
// scrape time have their own collectors.
type metrics struct {
	outcomes, reverts *prometheus.CounterVec
	pods              *prometheus.GaugeVec
	// The durations, in seconds, until a node completes a resize, until a worker takes
	// a pod, of planning a pod, and until a new pod has its size.
	actuation, waiting, planning, settling prometheus.Histogram
}

// newMetrics registers the metrics and returns them.
func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_outcomes_total",
			Help: "Pods processed, by the reason for the outcome.",
		}, []string{"reason"}),
		reverts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_reverts_total",
			Help: "Resizes that were reverted, by how they made their pods worse. One that did so in several ways counts for each.",
		}, []string{"harm"}),
		pods: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "workload_resizer_pods",
			Help: "Known pods, by decision (resize, aligned, skip) and its first reason (empty for resize, unless it restores or reverts the pod).",
		}, []string{"decision", "reason"}),
		actuation: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "workload_resizer_actuation_seconds",
			Help:    "Time from the write of a resize until the node is seen to have completed it.",
			Buckets: []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}),
		waiting: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "workload_resizer_queue_seconds",
			Help:    "Time that pods wait in the queue for a worker.",
			Buckets: []float64{.0001, .001, .01, .1, .5, 1, 5, 10, 30, 60, 300, 1800},
		}),
		planning: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "workload_resizer_plan_seconds",
			Help:    "Time to plan a pod, including the time to gather its inputs.",
			Buckets: prometheus.ExponentialBuckets(1e-6, 4, 10),
		}),
		settling: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "workload_resizer_settle_seconds",
			Help:    "Time from when a pod that was never sized is first seen to need a different size until that size is written. Later resizes of the pod do not count, nor do pods that are not new.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}),
	}
	// An alert sees an increase only if the value before it exists, and reverts of a wrong ratio come together.
	for _, reason := range []contract.Reason{contract.Resized, contract.Reverted, contract.ResizeInfeasible, contract.ResizeError} {
		m.outcomes.WithLabelValues(string(reason))
	}
	for _, harm := range contract.Harms {
		m.reverts.WithLabelValues(string(harm))
	}
	registry.MustRegister(m.outcomes, m.reverts, m.pods, m.actuation, m.waiting, m.planning, m.settling)
	return m
}

// exposeState registers the metrics that are read at scrape time.
func (l *Loop) exposeState(registry prometheus.Registerer) {
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
	}
	registry.MustRegister(
		gauge("workload_resizer_queue_depth", "Pods that wait for a worker.", func() float64 { return float64(l.queue.Len()) }),
		gauge("workload_resizer_realign_backlog", "Pods that wait for their turn to be resized (pace.resizesPerSecond), including those that wait until resizes may free more.", func() float64 { return float64(l.pacer.backlog()) }),
		gauge("workload_resizer_freed_backlog", "Pods that wait for their turn until resizes may free more (pace.freedPerHour).", func() float64 { return float64(l.pacer.withoutRoom()) }),
		gauge("workload_resizer_leading", "1 if this replica resizes pods, 0 if another replica may; always 0 with --dry-run.", func() float64 {
			if l.Leads() && !l.DryRun {
				return 1
			}
			return 0
		}),
		newDifferenceCollector(l.ledger.difference),
		newFreedCollector(l.pacer.freedShares),
		newBreakerCollector(func() (*hold.Table, error) { return l.Holds.Ready() }),
	)
}

func (m *metrics) outcome(reason contract.Reason) {
	m.outcomes.WithLabelValues(string(reason)).Inc()
}
