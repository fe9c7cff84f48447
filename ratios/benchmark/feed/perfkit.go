package feed

import (
	"bufio"
	"cmp"
	"regexp"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// coremark is the benchmark that PerfKitBenchmarker's metric "Coremark Score" is
// of, by the name that others use for it, too.
const coremark = "coremark"

// perfKitNames are what a sample's fields are called.
var perfKitNames = map[string]string{
	"id": "sample_uri", "instanceType": "machine_type", "cpuModel": "cpu_version", "benchmark": "metric",
	"score": "value", "vcpus": "num_cpus", "threads": "thread_count", "machine": "run_uri", "time": "timestamp",
}

// readPerfKit reads what PerfKitBenchmarker writes with --json_path: one sample a
// line, its metadata collapsed to labels or not.
func readPerfKit(in *bufio.Reader, c *collector) error {
	return lines(in, func(row rawRow) error {
		s, fault := c.perfKit(row)
		c.add(row.line, s, fault, perfKitNames)
		return nil
	})
}

func (c *collector) perfKit(row rawRow) (*sample.Sample, *Fault) {
	if row.fault != nil {
		return nil, row.fault
	}
	r, fault := objectRecord(row.text)
	if fault != nil {
		return nil, fault
	}
	if r("metric") == "" {
		return nil, &Fault{Field: "metric", Reason: "must be set"}
	}
	benchmark := perfKitBenchmark(r("test"), r("metric"))
	if !c.wants(benchmark) || !isSpeed(r("metric"), r("unit")) {
		return nil, nil
	}
	metadata, fault := perfKitMetadata(r)
	if fault != nil {
		return nil, fault
	}
	threads, fault := metadata.count("thread_count")
	if fault != nil || threads == 0 && benchmark != coremark {
		// CoreMark is always run on all vCPUs. What else does not say so may be
		// of a disk, of the network, of one thread, or only describe the machine.
		return nil, fault
	}
	instanceType := metadata("machine_type")
	if instanceType == "" {
		return nil, &Fault{Field: "machine_type", Reason: "must be in labels or metadata"}
	}
	score, fault := r.number("value")
	if fault != nil {
		return nil, fault
	}
	said, fault := metadata.count("num_cpus")
	if fault != nil {
		return nil, fault
	}
	vcpus, fault := c.options.vcpus(said, "num_cpus", instanceType)
	if fault != nil {
		return nil, fault
	}
	measured, fault := r.epoch("timestamp", c.options.Now)
	if fault != nil {
		return nil, fault
	}
	return &sample.Sample{
		ID:           cmp.Or(r("sample_uri"), digest("perfkit", r("run_uri"), benchmark, instanceType, r("value"), r("timestamp"))),
		InstanceType: instanceType,
		CPUModel:     nodetype.ModelName(metadata("cpu_version")),
		Benchmark:    benchmark,
		Score:        score,
		Unit:         r("unit"),
		VCPUs:        vcpus,
		Threads:      cmp.Or(threads, vcpus),
		// A run has machines of its own. Where it is not named, all rows may be of
		// the same one.
		Machine: cmp.Or(r("run_uri"), instanceType),
		Time:    measured,
	}, nil
}

// perfKitBenchmark names what was run: metrics are unique within a test.
func perfKitBenchmark(test, metric string) string {
	if strings.EqualFold(metric, "Coremark Score") {
		return coremark
	}
	test, metric = strings.ToLower(test), strings.ToLower(metric)
	if test == "" {
		return benchmarkName(strings.Fields(metric)...)
	}
	return benchmarkName(strings.Fields(test + ":" + metric)...)
}

// noSpeed is units of which more is slower, or says nothing: times and shares.
var noSpeed = regexp.MustCompile(`(?i)^(s|secs?|seconds?|ms|msecs?|milliseconds?|us|µs|usecs?|microseconds?|ns|nsecs?|nanoseconds?|min|minutes?|h|hours?|cycles|%|percent(age)?|watts?|joules?|\$|usd)$`)

// isSpeed tells from a metric and its unit whether more is faster. "End to End
// Runtime" and the times of provisioning, which every run has, are in seconds.
func isSpeed(metric, unit string) bool {
	metric = strings.ToLower(metric)
	return !noSpeed.MatchString(strings.TrimSpace(unit)) && !strings.Contains(metric, "latency") && !strings.Contains(metric, "runtime")
}

// perfKitMetadata is metadata, or labels ("|key:value|,|key:value|"), which it is
// collapsed to by default.
func perfKitMetadata(r record) (record, *Fault) {
	if text := r("metadata"); text != "" {
		values, fault := objectRecord([]byte(text))
		return values, fault.within("metadata")
	}
	labels := map[string]string{}
	if text := r("labels"); text != "" {
		inner, opened := strings.CutPrefix(text, "|")
		inner, closed := strings.CutSuffix(inner, "|")
		for label := range strings.SplitSeq(inner, "|,|") {
			key, value, found := strings.Cut(label, ":")
			if _, twice := labels[key]; twice || !found || !opened || !closed {
				return nil, &Fault{Field: "labels", Reason: "must be as |key:value|,|key:value|, each key once, not " + quoted(text)}
			}
			labels[key] = value
		}
	}
	return func(name string) string { return labels[name] }, nil
}
