package loop

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
)

// requests are sums of the requests of containers.
type requests struct {
	// CPU is in millicores, Memory in bytes.
	CPU, Memory int64
}

// difference is how much less (freed) and more (added) pods request than their originals.
// For each resource, a pod counts in only one of them.
type difference struct{ freed, added requests }

// differenceOf returns the difference of one pod, according to its plan and its current
// spec. Pending writes do not count, and a finished pod requests nothing.
func differenceOf(of *pod.Pod, p *plan.Plan) difference {
	var net requests
	add := func(cpuFrom, cpuTo, memoryFrom, memoryTo int64) {
		// A container whose original is unknown does not count.
		if cpuFrom > 0 {
			net.CPU += cpuTo - cpuFrom
		}
		if memoryFrom > 0 {
			net.Memory += memoryTo - memoryFrom
		}
	}
	switch {
	case of.Finished():
	case p.Decision == plan.Skip:
		// The plan may have ended before its originals were found.
		if resized := query.ResizeOf(of); resized != nil {
			for i := range resized.Containers {
				c := &resized.Containers[i]
				add(c.Original.CPU.Request, c.Spec.CPU.Request, c.Original.Memory.Request, c.Spec.Memory.Request)
			}
		}
	default:
		for i := range p.Containers {
			c := &p.Containers[i]
			add(c.Original.CPU.Request, c.Current.CPU.Request, c.Original.Memory.Request, c.Current.Memory.Request)
		}
	}
	return difference{
		freed: requests{max(0, -net.CPU), max(0, -net.Memory)},
		added: requests{max(0, net.CPU), max(0, net.Memory)},
	}
}

// replace replaces one term of a sum.
func (d *difference) replace(before, now difference) {
	d.freed.replace(before.freed, now.freed)
	d.added.replace(before.added, now.added)
}

func (r *requests) replace(before, now requests) {
	r.CPU += now.CPU - before.CPU
	r.Memory += now.Memory - before.Memory
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
		requests  requests
	}{{"freed", now.freed}, {"added", now.added}} {
		metrics <- prometheus.MustNewConstMetric(c.cores, prometheus.GaugeValue, float64(d.requests.CPU)/1000, d.direction)
		metrics <- prometheus.MustNewConstMetric(c.memory, prometheus.GaugeValue, float64(d.requests.Memory), d.direction)
	}
}
