package feed

import (
	"bufio"
	"cmp"
	"regexp"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// perfKitNames maps the fields of a sample to their names.
var perfKitNames = map[string]string{
	"instanceType": "machine_type", "cpuModel": "cpu_version", "benchmark": "metric",
	"score": "value", "vcpus": "num_cpus", "threads": "thread_count", "machine": "run_uri", "time": "timestamp",
}

// readPerfKit reads what PerfKitBenchmarker writes with --json_path: one sample per line, with
// its metadata optionally collapsed to labels.
func readPerfKit(in *bufio.Reader, c *collector) error {
	err := lines(in, func(row rawRow) error {
		c.result.Rows++
		if fault := c.perfKit(row); fault != nil {
			c.fault(row.line, 1, fault)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.finish("perfkit", perfKitNames)
	return nil
}

func (c *collector) perfKit(raw rawRow) *Fault {
	if raw.fault != nil {
		return raw.fault
	}
	r, fault := objectRecord(raw.text)
	if fault != nil {
		return fault
	}
	if r("metric") == "" {
		return &Fault{Field: "metric", Reason: "must be set"}
	}
	of, test, fault := c.suite(strings.ToLower(r("test")+":"+r("metric")), r)
	if fault != nil {
		return fault
	}
	metadata, fault := perfKitMetadata(r)
	if fault != nil {
		return fault
	}
	server := Server{InstanceType: metadata("machine_type")}
	if server.InstanceType == "" {
		return &Fault{Field: "machine_type", Code: UnknownMachine, Reason: "must be in labels or metadata"}
	}
	score, fault := r.number("value")
	if fault != nil {
		return fault
	}
	said, fault := metadata.count("num_cpus")
	if fault != nil {
		return fault
	}
	if server.VCPUs, fault = c.options.vcpus(said, "num_cpus", server.InstanceType); fault != nil {
		return fault
	}
	threads, fault := perfKitThreads(metadata)
	if fault != nil {
		return fault
	}
	measured, fault := r.epoch("timestamp", c.options.Now)
	if fault != nil {
		return fault
	}
	// Suites whose rows do not state the threads always run on all vCPUs.
	threads = cmp.Or(threads, server.VCPUs)
	if threads != 1 && threads != server.VCPUs {
		return skip(NotAllThreads)
	}
	// Each run has its own machines. If a row does not name the run, all rows may be from the
	// same machine.
	key := machineKey{name: cmp.Or(r("run_uri"), server.InstanceType), suite: of.Name, cpuModel: perfKitModel(metadata("cpu_version"))}
	if key.name != server.InstanceType {
		key.name += "/" + server.InstanceType
	}
	return c.take(raw.line, row{machineKey: key, suite: of, test: test, single: threads != server.VCPUs, run: run{score, measured, true}, server: server, unit: r("unit")}, perfKitNames)
}

// perfKitThreads returns how many threads or copies ran; 0 if the row does not state it.
func perfKitThreads(metadata record) (int, *Fault) {
	for _, label := range []string{"thread_count", "spec17_copies", "num_parallel_copies"} {
		if n, fault := metadata.count(label); n > 0 || fault != nil {
			return n, fault
		}
	}
	return 0, nil
}

// perfKitVersion matches the CPU that PerfKitBenchmarker finds in /proc/cpuinfo: vendor, family,
// model and stepping.
var perfKitVersion = regexp.MustCompile(`^(Genuine|Authentic)(Intel|AMD)_(\d+_\d+_\d+)$`)

// perfKitModel returns the CPU model, with the same name as the node agent's.
func perfKitModel(said string) string {
	if m := perfKitVersion.FindStringSubmatch(said); m != nil {
		said = m[2] + "-" + strings.ReplaceAll(m[3], "_", "-")
	}
	return nodetype.ModelName(said)
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
