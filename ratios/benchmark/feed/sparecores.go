package feed

import (
	"bufio"
	"cmp"
	"strings"
)

// scoreTable and serverTable are the tables of Spare Cores that a dump is read for.
const (
	scoreTable  = "benchmark_score"
	serverTable = "server"
)

// spareCoresNames maps the fields of a sample to their names. Without api_reference, server_id
// is the instance type.
var spareCoresNames = map[string]string{
	"instanceType": "api_reference", "benchmark": "benchmark_id", "version": "framework_version", "machine": "server_id",
	"time": "observed_at", "vcpus": "vcpus", "vendor": "vendor_id",
}

// spareCoresColumns are the columns that a table of scores must have.
var spareCoresColumns = []string{"vendor_id", "server_id", "benchmark_id", "score"}

// readSpareCores reads rows of the benchmark_score table of Spare Cores: a JSON array,
// newline-delimited JSON, CSV with a header, or the published dump, which also has the table of
// servers. The other notations may have more columns: the server's api_reference, vcpus and
// cpu_cores.
func readSpareCores(in *bufio.Reader, c *collector) error {
	wanted := func(table string) bool { return table == scoreTable || table == serverTable }
	err := records(in, spareCoresColumns, wanted, func(line int, table string, r record, fault *Fault) {
		if table == serverTable {
			if fault == nil {
				c.servers.take(r)
			}
			return
		}
		c.result.Rows++
		if fault == nil {
			fault = c.spareCores(line, r)
		}
		if fault != nil {
			c.fault(line, 1, fault)
		}
	})
	if err != nil {
		return err
	}
	c.finish("sparecores", spareCoresNames)
	return nil
}

func (c *collector) spareCores(line int, r record) *Fault {
	if status := r("status"); status != "" && !strings.EqualFold(status, "active") {
		return skip(Inactive)
	}
	id := r("benchmark_id")
	if id == "" {
		return &Fault{Field: "benchmark_id", Reason: "must be set"}
	}
	config, fault := readConfig(r("config"))
	if fault != nil {
		return fault
	}
	of, test, fault := c.suite(id, config.setting)
	if fault != nil {
		return fault
	}
	vendor, server := r("vendor_id"), r("server_id")
	if server == "" {
		return &Fault{Field: "server_id", Reason: "must be set"}
	}
	known := Server{InstanceType: r("api_reference")}
	if known.VCPUs, fault = r.count("vcpus"); fault != nil {
		return fault
	}
	score, fault := r.number("score")
	if fault != nil {
		return fault
	}
	observed, fault := r.moment("observed_at", c.options.Now)
	if fault != nil {
		return fault
	}
	key := machineKey{vendor: vendor, name: server, suite: of.Name, version: of.Comparable(cmp.Or(r("framework_version"), config.version))}
	single := config.threads == 1
	if config.partial || config.threads > 1 && !c.isAll(key, known, config.threads) {
		return skip(NotAllThreads)
	}
	return c.take(line, row{machineKey: key, suite: of, test: test, single: single, run: run{score, observed, true}, server: known}, spareCoresNames)
}

// isAll reports whether a number of threads is the number of vCPUs of a machine.
func (c *collector) isAll(k machineKey, known Server, threads int) bool {
	s, fault := c.server(k, known, spareCoresNames)
	return fault == nil && s.VCPUs == threads
}
