package server

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/server/benchmarks"
)

// contradictionCollector exposes which of the ratios that are in effect, or that benchmarks suggest, production contradicts.
type contradictionCollector struct {
	production   benchmarks.Production
	measured     benchmarks.Measured
	store        *ratios.Store
	contradicted *prometheus.Desc

	mu sync.Mutex
	// view is what benchmarks suggested when it was made.
	view *judge.View
}

// newContradictionCollector returns a collector. measured is nil without benchmarks.
func newContradictionCollector(production benchmarks.Production, measured benchmarks.Measured, store *ratios.Store) *contradictionCollector {
	return &contradictionCollector{production: production, measured: measured, store: store, contradicted: prometheus.NewDesc("workload_resizer_ratio_contradicted",
		"Whether the ratio of a node type, which is from the source or which it suggests, lies outside of both intervals that production shows (1), or not (0).", []string{"node_type", "source"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *contradictionCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.contradicted }

// Collect implements prometheus.Collector. Each ratio in effect has a value, and each suggestion that is contradicted.
func (c *contradictionCollector) Collect(metrics chan<- prometheus.Metric) {
	table := c.store.Table()
	if table == nil {
		return
	}
	type series struct{ nodeType, source string }
	contradicted := map[series]float64{}
	for _, nodeType := range table.NodeTypes() {
		entry, _ := table.Lookup(nodeType)
		contradicted[series{nodeType, entry.Ratio.Provenance.Source}] = 0
	}
	for _, x := range benchmarks.Contradictions(c.production.View(), table, c.suggested()) {
		contradicted[series{x.NodeType, x.Source}] = 1
	}
	for of, value := range contradicted {
		metrics <- prometheus.MustNewConstMetric(c.contradicted, prometheus.GaugeValue, value, of.nodeType, of.source)
	}
}

// suggestedFor is how long suggestions of benchmarks are reused: each estimate looks at all samples, and alerts wait for hours.
const suggestedFor = 10 * time.Minute

// suggested returns what benchmarks suggest; nil if that is not known.
func (c *contradictionCollector) suggested() *judge.View {
	if c.measured == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view == nil || time.Since(c.view.Time).Abs() > suggestedFor {
		view, err := c.measured.View()
		if err != nil {
			return nil // The source of the ratios reports it.
		}
		c.view = view
	}
	return c.view
}
