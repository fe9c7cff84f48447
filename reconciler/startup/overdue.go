package startup

import (
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// overdueAfter is how long a ready node keeps pods out until that is a fault: it is longer than a
// replica that does not lead waits, and it retries failed writes.
const overdueAfter = 35 * time.Second

// Register registers a gauge of the nodes whose taint is overdue.
func (g *Gate) Register(registry prometheus.Registerer) {
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_startup_taint_overdue_nodes",
		Help: "Nodes that keep pods out by the startup taint, although they have been ready for more than 35 seconds; always 0 without --startup-taint.",
	}, func() float64 { return float64(g.overdue()) }))
}

// overdue counts the ready nodes that should have lost their taint.
func (g *Gate) overdue() int {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	names := slices.Collect(maps.Keys(g.nodes))
	g.mu.Unlock()
	count := 0
	for _, name := range names {
		node := g.config.Node(name)
		if node == nil || !Tainted(node) {
			continue
		}
		due, ready := g.due(node)
		if ready && g.config.Clock.Since(due.Add(-Patience)) > overdueAfter {
			count++
		}
	}
	return count
}
