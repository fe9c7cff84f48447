package feed

import (
	"bufio"
	"cmp"
	"regexp"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// coremark is the benchmark of PerfKitBenchmarker's metric "Coremark Score". Other feeds use
// the same name for it.
const coremark = "coremark"

// perfKitNames maps the fields of a sample to their names.
var perfKitNames = map[string]string{
	"id": "sample_uri", "instanceType": "machine_type", "cpuModel": "cpu_version", "benchmark": "metric",
	"score": "value", "vcpus": "num_cpus", "threads": "thread_count", "machine": "run_uri", "time": "timestamp",
}

// readPerfKit reads what PerfKitBenchmarker writes with --json_path: one sample per line, with
// its metadata optionally collapsed to labels.
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
		// CoreMark always runs on all vCPUs. Other metrics without thread_count may
		// measure a disk, the network or one thread, or only describe the machine.
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
		// Each run has its own machines. If a row does not name the run, all rows may
		// be from the same machine.
		Machine: cmp.Or(r("run_uri"), instanceType),
		Time:    measured,
	}, nil
}

// perfKitBenchmark returns the name of the benchmark. Metrics are unique within a test.
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

// noSpeed matches units of which more is slower or has no meaning: times and percentages.
var noSpeed = regexp.MustCompile(`(?i)^(s|secs?|seconds?|ms|msecs?|milliseconds?|us|µs|usecs?|microseconds?|ns|nsecs?|nanoseconds?|min|minutes?|h|hours?|cycles|%|percent(age)?|watts?|joules?|\$|usd)$`)

// isSpeed reports, by a metric and its unit, whether more is faster. "End to End Runtime" and
// the provisioning times, which every run has, are in seconds.
func isSpeed(metric, unit string) bool {
	metric = strings.ToLower(metric)
	return !noSpeed.MatchString(strings.TrimSpace(unit)) && !strings.Contains(metric, "latency") && !strings.Contains(metric, "runtime")
}

// perfKitMetadata returns the metadata, or else the labels ("|key:value|,|key:value|") to
// which it is collapsed by default.
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
				return nil, &Fault{Field: "labels", Reason: "must have the form |key:value|,|key:value|, with each key once, not " + quoted(text)}
			}
			labels[key] = value
		}
	}
	return func(name string) string { return labels[name] }, nil
}
