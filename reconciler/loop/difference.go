package loop

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// difference is how much less and how much more pods request than their originals.
// For each resource, a pod counts in only one of them.
type difference struct{ less, more node.Resources }

// differenceOf returns the difference of one pod, according to its plan and its current
// spec. Pending writes do not count, and a finished pod requests nothing.
func differenceOf(of *pod.Pod, p *plan.Plan) difference {
	var more node.Resources
	add := func(original, has sizing.Container) {
		// A container whose original is unknown does not count.
		if original.CPU.Request > 0 {
			more.CPU += has.CPU.Request - original.CPU.Request
		}
		if original.Memory.Request > 0 {
			more.Memory += has.Memory.Request - original.Memory.Request
		}
	}
	switch {
	case of.Finished():
	case p.Decision == plan.Skip:
		// The plan may have ended before its originals were found.
		if resized := query.ResizeOf(of); resized != nil {
			for i := range resized.Containers {
				c := &resized.Containers[i]
				add(c.Original, c.Spec)
			}
		}
	default:
		for i := range p.Containers {
			c := &p.Containers[i]
			add(c.Original, c.Current)
		}
	}
	none := node.Resources{}
	return difference{less: none.Minus(more).AtLeast(none), more: more.AtLeast(none)}
}

// replace replaces one term of a sum.
func (d *difference) replace(before, now difference) {
	d.less = d.less.Minus(before.less).Plus(now.less)
	d.more = d.more.Minus(before.more).Plus(now.more)
}

// difference returns the sum over all known pods.
func (l *ledger) difference() difference {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// differenceCollector exposes the difference as metrics.
type differenceCollector struct {
	read          func() difference
	cores, memory *prometheus.Desc
}

func newDifferenceCollector(read func() difference) *differenceCollector {
	direction := []string{"direction"}
	return &differenceCollector{
		read: read,
		cores: prometheus.NewDesc("workload_resizer_requested_change_cores",
			"Cores that known pods request less (freed) or more (added) than their originals.", direction, nil),
		memory: prometheus.NewDesc("workload_resizer_requested_change_bytes",
			"Bytes of memory that known pods request less (freed) or more (added) than their originals.", direction, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *differenceCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.cores
	descs <- c.memory
}

// Collect implements prometheus.Collector.
func (c *differenceCollector) Collect(metrics chan<- prometheus.Metric) {
	now := c.read()
	for _, d := range [...]struct {
		direction string
		requests  node.Resources
	}{{"freed", now.less}, {"added", now.more}} {
		metrics <- prometheus.MustNewConstMetric(c.cores, prometheus.GaugeValue, float64(d.requests.CPU)/1000, d.direction)
		metrics <- prometheus.MustNewConstMetric(c.memory, prometheus.GaugeValue, float64(d.requests.Memory), d.direction)
	}
}
