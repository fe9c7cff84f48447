package feed

import (
	"bufio"
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// spareCoresNames maps the fields of a sample to their names. Without api_reference, server_id
// is the instance type.
var spareCoresNames = map[string]string{
	"instanceType": "api_reference", "benchmark": "benchmark_id", "version": "framework_version", "machine": "server_id", "time": "observed_at",
}

// readSpareCores reads rows of the benchmark_score table of Spare Cores: a JSON array,
// newline-delimited JSON, or CSV with a header. The rows may have two more columns: the
// server's api_reference and vcpus.
func readSpareCores(in *bufio.Reader, c *collector) error {
	take := func(line int, r record, fault *Fault) {
		var s *sample.Sample
		if fault == nil {
			s, fault = c.spareCores(r)
		}
		c.add(line, s, fault, spareCoresNames)
	}
	takeJSON := func(row rawRow) error {
		var r record
		fault := row.fault
		if fault == nil {
			r, fault = objectRecord(row.text)
		}
		take(row.line, r, fault)
		return nil
	}
	head, _ := in.Peek(headSize)
	switch head = bytes.TrimSpace(head); {
	case bytes.HasPrefix(head, []byte("[")):
		return elements(in, takeJSON)
	case bytes.HasPrefix(head, []byte("{")):
		return lines(in, takeJSON)
	}
	return table(in, []string{"vendor_id", "server_id", "benchmark_id", "score"}, take)
}

func (c *collector) spareCores(r record) (*sample.Sample, *Fault) {
	if status := r("status"); status != "" && !strings.EqualFold(status, "active") {
		return nil, nil
	}
	id := r("benchmark_id")
	if id == "" {
		return nil, &Fault{Field: "benchmark_id", Reason: "must be set"}
	}
	if !isMachineSpeed(id) {
		return nil, nil
	}
	config, fault := readConfig(r("config"))
	if fault != nil {
		return nil, fault
	}
	benchmark := benchmarkName(append([]string{id}, config.variant...)...)
	if config.partial || !c.wants(benchmark) {
		return nil, nil
	}
	vendor, server := r("vendor_id"), r("server_id")
	if server == "" {
		return nil, &Fault{Field: "server_id", Reason: "must be set"}
	}
	instanceType := cmp.Or(r("api_reference"), server)
	said, fault := r.count("vcpus")
	if fault != nil {
		return nil, fault
	}
	vcpus, fault := c.options.vcpus(said, "vcpus", instanceType)
	if fault != nil {
		return nil, fault
	}
	if config.threads != 0 && config.threads != vcpus {
		return nil, nil
	}
	score, fault := r.number("score")
	if fault != nil {
		return nil, fault
	}
	observed, fault := r.moment("observed_at", c.options.Now)
	if fault != nil {
		return nil, fault
	}
	version := cmp.Or(r("framework_version"), config.version)
	return &sample.Sample{
		ID:           digest("sparecores", vendor, server, benchmark, version, r("observed_at"), r("score")),
		InstanceType: instanceType,
		Benchmark:    benchmark,
		Version:      version,
		Score:        score,
		VCPUs:        vcpus,
		Threads:      vcpus,
		Machine:      machineOfDay(vendor, server, r("observed_at"), observed),
		Time:         observed,
	}, nil
}

// machineOfDay returns a name that identifies the machine. A server is started and then runs
// all benchmarks within hours, and each row has the time when its benchmark ended. So rows of
// one day count as one machine. Rows without a time may all be from one machine.
func machineOfDay(vendor, server, said string, observed time.Time) string {
	machine := vendor + "/" + server
	if said != "" {
		machine += " " + observed.Format(time.DateOnly)
	}
	return machine
}
