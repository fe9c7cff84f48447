package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/health"
)

// newPanics returns a counter of calls that panicked.
func newPanics() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "workload_resizer_grpc_panics_total",
		Help: "API calls that panicked. Each is a bug; the log has the stack.",
	})
}

// newHoldsHealthy exposes the health of the holds.
func newHoldsHealthy(holds *hold.Store) prometheus.Collector {
	return newHealthy("workload_resizer_holds_healthy",
		"Whether the stored holds are in effect (1), or the last known holds or none (0).", holds.Err)
}

// newFreezeHealthy exposes whether the freeze can be read.
func newFreezeHealthy(holds *hold.Store) prometheus.Collector {
	return newHealthy("workload_resizer_freeze_healthy",
		"Whether the server can read if the cluster is frozen (1), or cannot and resizes no pod (0).", holds.FreezeErr)
}

func newHealthy(name, help string, problem func() error) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		if problem() != nil {
			return 0
		}
		return 1
	})
}

// newFrozen exposes whether the cluster is frozen.
func newFrozen(holds *hold.Store) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_frozen",
		Help: "1 if the cluster is frozen, or if that cannot be read, so that no pod is resized; otherwise 0.",
	}, func() float64 {
		if freeze, err := holds.Frozen(); err == nil && freeze == nil {
			return 0
		}
		return 1
	})
}

// ratioCollector exposes the ratios in effect.
type ratioCollector struct {
	store *ratios.Store
	ratio *prometheus.Desc
}

func newRatioCollector(store *ratios.Store) *ratioCollector {
	return &ratioCollector{store, prometheus.NewDesc("workload_resizer_ratio",
		"Effective performance of a node type, by resource (cpu, memory) and source. Only the proportions between the values are meaningful. Does not include the ratios of rules for specific pods.",
		[]string{"node_type", "resource", "source"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *ratioCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.ratio }

// Collect implements prometheus.Collector.
func (c *ratioCollector) Collect(metrics chan<- prometheus.Metric) {
	table := c.store.Table()
	if table == nil {
		return
	}
	for _, nodeType := range table.NodeTypes() {
		entry, _ := table.Lookup(nodeType)
		for resource, perf := range map[string]float64{"cpu": entry.Ratio.CPUPerf, "memory": entry.Ratio.MemoryPerf} {
			metrics <- prometheus.MustNewConstMetric(c.ratio, prometheus.GaugeValue, perf, nodeType, resource, entry.Ratio.Provenance.Source)
		}
	}
}

// newImplausibleRatios exposes how many node types are not used.
func newImplausibleRatios(store *ratios.Store) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_implausible_ratios",
		Help: "Node types that are not used because they would be faster or slower than the baseline by more than maxSpeedRatio, in the globals and in rules.",
	}, func() float64 {
		if table := store.Table(); table != nil {
			return float64(len(table.UnusedTypes()))
		}
		return 0
	})
}

// sourceCollector exposes the state of the ratio sources.
type sourceCollector struct {
	store   *ratios.Store
	healthy *prometheus.Desc
}

func newSourceCollector(store *ratios.Store) *sourceCollector {
	return &sourceCollector{store, prometheus.NewDesc("workload_resizer_ratio_source_healthy",
		"Whether the current state of a ratio source is in effect (1), or its last good state or none (0).", []string{"source"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *sourceCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.healthy }

// Collect implements prometheus.Collector.
func (c *sourceCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, source := range c.store.Sources() {
		value := 1.0
		if source.Err != nil {
			value = 0
		}
		metrics <- prometheus.MustNewConstMetric(c.healthy, prometheus.GaugeValue, value, source.Name)
	}
}

// expiryCollector exposes when the serving certificate expires, if there is one.
type expiryCollector struct {
	certificate health.Certificate
	expiry      *prometheus.Desc
}

func newExpiryCollector(certificate health.Certificate) *expiryCollector {
	return &expiryCollector{certificate, prometheus.NewDesc("workload_resizer_tls_certificate_expiry_timestamp_seconds",
		"When the serving certificate of the gRPC API expires, in seconds since 1970.", nil, nil)}
}

// Describe implements prometheus.Collector.
func (c *expiryCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.expiry }

// Collect implements prometheus.Collector.
func (c *expiryCollector) Collect(metrics chan<- prometheus.Metric) {
	if expiry := c.certificate.Expiry(); !expiry.IsZero() {
		metrics <- prometheus.MustNewConstMetric(c.expiry, prometheus.GaugeValue, float64(expiry.Unix()))
	}
}
