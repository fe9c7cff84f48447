package demand

import (
	"cmp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trend"
)

// counts are the numbers of workloads that have pods, with and without a recommendation for any of their
// containers.
type counts struct{ known, unknown int }

// count counts the workloads that have pods at this time.
func (s *survey) count(demands *usage.Table, now time.Time) *counts {
	known := make(map[usage.Workload]bool, len(s.workloads))
	for key := range demands.All() {
		known[ownerOf(key.Container)] = true
	}
	c := &counts{}
	for w, f := range s.workloads {
		switch {
		case !f.seen.Equal(now):
		case known[w]:
			c.known++
		default:
			c.unknown++
		}
	}
	return c
}

// Register registers the metrics.
func (d *Demands) Register(registry prometheus.Registerer) { registry.MustRegister(&collector{d}) }

// collector reads the metrics at scrape time.
type collector struct{ demands *Demands }

var (
	descSample = prometheus.NewDesc("workload_resizer_usage_sample_timestamp_seconds",
		"When the newest sample of a source of usage was taken, in seconds since 1970; without one, the beginning of the first read. Absent on replicas that do not collect usage, and before the first report to push if there are other sources.", []string{"source"}, nil)
	descSamples = prometheus.NewDesc("workload_resizer_usage_samples_total",
		"Samples of a source of usage that counted, or that could not count (rejected).", []string{"source", "result"}, nil)
	descFailing = prometheus.NewDesc("workload_resizer_usage_source_failing",
		"1 if the last read of a source of usage failed or was incomplete, 0 if not; absent on replicas that do not collect usage.", []string{"source"}, nil)
	descStored = prometheus.NewDesc("workload_resizer_usage_stored_timestamp_seconds",
		"When the part of the history of usage was stored that was stored first, in seconds since 1970; absent before that, and with --dry-run.", nil, nil)
	descBytes = prometheus.NewDesc("workload_resizer_usage_stored_bytes",
		"Size of the stored history of usage.", nil, nil)
	descUnreadable = prometheus.NewDesc("workload_resizer_usage_unreadable_configmaps",
		"ConfigMaps with history of usage that cannot be read.", nil, nil)
	descContainers = prometheus.NewDesc("workload_resizer_usage_containers",
		"Containers of workloads whose usage is known.", nil, nil)
	descWorkloads = prometheus.NewDesc("workload_resizer_usage_workloads",
		"Workloads that have pods, and a recommendation (known) or none (unknown).", []string{"recommendation"}, nil)
	descCores = prometheus.NewDesc("workload_resizer_savings_cores",
		"Cores of all running pods: what their authors requested (authored), what they request now (requested), and what they use (used). Of pods without known usage, used has nothing; what the others request is measured. Computed every minute.", []string{"amount"}, nil)
	descMemory = prometheus.NewDesc("workload_resizer_savings_bytes",
		"The same as workload_resizer_savings_cores, for bytes of memory.", []string{"amount"}, nil)
	descCost = prometheus.NewDesc("workload_resizer_savings_hourly_cost",
		"What these amounts cost an hour, in the currency of the prices in the configuration; absent without prices.", []string{"amount"}, nil)
	descCoreSeconds = prometheus.NewDesc("workload_resizer_savings_core_seconds_total",
		"The cores of workload_resizer_savings_cores, times the seconds. The increase of authored less the increase of requested is freed. Only the leader counts.", []string{"amount"}, nil)
	descByteSeconds = prometheus.NewDesc("workload_resizer_savings_byte_seconds_total",
		"The same as workload_resizer_savings_core_seconds_total, for bytes of memory.", []string{"amount"}, nil)
	descKills = prometheus.NewDesc("workload_resizer_oom_kills_total",
		"OOM kills that a resize may have caused: of containers with less memory than their authors wrote. Counted every minute, on every replica.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descSample, descSamples, descFailing, descStored, descBytes, descUnreadable, descContainers, descWorkloads, descCores, descMemory, descCost, descCoreSeconds, descByteSeconds, descKills} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		send(d, prometheus.GaugeValue, value, labels...)
	}
	for _, s := range c.demands.Sources() {
		// The rest of the name is an address.
		name, _, _ := strings.Cut(s.Name, " ")
		send(descSamples, prometheus.CounterValue, float64(s.Counted), name, "counted")
		send(descSamples, prometheus.CounterValue, float64(s.Rejected), name, "rejected")
		if !c.demands.Collects() {
			continue
		}
		// A source without any sample must become stale, too, unless there may be nobody who delivers.
		if newest := cmp.Or(s.Newest, s.Began); !newest.IsZero() && (!s.Optional || !s.Newest.IsZero()) {
			gauge(descSample, seconds(newest), name)
		}
		failing := 0.0
		if s.Err != nil {
			failing = 1
		}
		gauge(descFailing, failing, name)
	}
	if c.demands.Keeper != nil {
		c.collectStored(gauge)
	}
	gauge(descContainers, float64(c.demands.Containers()))
	workloads := c.demands.counts.Load()
	gauge(descWorkloads, float64(workloads.known), "known")
	gauge(descWorkloads, float64(workloads.unknown), "unknown")
	if saved := c.demands.account.Load(); saved != nil {
		send(descKills, prometheus.CounterValue, float64(saved.kills))
		saved.collect(gauge)
		saved.collectCounted(func(d *prometheus.Desc, value float64, amount string) {
			send(d, prometheus.CounterValue, value, amount)
		})
	}
}

// collect sends what all pods save.
func (a *account) collect(gauge func(*prometheus.Desc, float64, ...string)) {
	for _, of := range [...]struct {
		amount string
		recommend.Amounts
	}{{"authored", a.Authored}, {"requested", a.Requested}, {"measured", a.Measured}, {"used", a.Used}} {
		gauge(descCores, float64(of.CPU)/1000, of.amount)
		gauge(descMemory, float64(of.Memory), of.amount)
	}
	if a.priced {
		gauge(descCost, a.AuthoredCost, "authored")
		gauge(descCost, a.RequestedCost, "requested")
		gauge(descCost, a.UsedCost, "used")
	}
}

func (c *collector) collectStored(gauge func(*prometheus.Desc, float64, ...string)) {
	s := c.demands.Keeper.Status()
	bytes, unreadable := 0, 0
	for _, shard := range s.Shards {
		bytes += shard.Bytes
		if shard.Err != nil {
			unreadable++
		}
	}
	if !s.Stored.IsZero() {
		gauge(descStored, seconds(s.Stored))
	}
	gauge(descBytes, float64(bytes))
	gauge(descUnreadable, float64(unreadable))
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// collectCounted sends what the cluster has had while this process led.
func (a *account) collectCounted(counter func(d *prometheus.Desc, value float64, amount string)) {
	for _, of := range [...]struct {
		amount string
		trend.Resources
	}{{"authored", a.counted.authored}, {"requested", a.counted.requested}, {"measured", a.counted.measured}, {"used", a.counted.used}} {
		counter(descCoreSeconds, of.CPU/1000, of.amount)
		counter(descByteSeconds, of.Memory, of.amount)
	}
}
