package feed

import (
	"bufio"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// geekbenchResult is what Geekbench 6 writes with --export-json.
type geekbenchResult struct {
	Version  string            `json:"version"`
	Metrics  []geekbenchMetric `json:"metrics"`
	Sections []struct {
		Name      string `json:"name"`
		Workloads []struct {
			Name  string      `json:"name"`
			Score json.Number `json:"score"`
		} `json:"workloads"`
	} `json:"sections"`
}

// geekbenchMetric describes the machine.
type geekbenchMetric struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// metric returns the value of a metric; empty if there is none.
func (g *geekbenchResult) metric(name string) string {
	for _, m := range g.Metrics {
		if strings.EqualFold(m.Name, name) {
			return m.Value
		}
	}
	return ""
}

// geekbenchTopology matches e.g. "1 Processor, 4 Cores, 8 Threads".
var geekbenchTopology = regexp.MustCompile(`(\d+) Cores?(?:, (\d+) Threads?)?`)

// server returns what the result says about its machine.
func (g *geekbenchResult) server(o *Options) Server {
	s := Server{InstanceType: o.InstanceType}
	if model, ok := strings.CutPrefix(g.metric("Model"), "Amazon EC2 "); ok && s.InstanceType == "" {
		s.InstanceType = model
	}
	if m := geekbenchTopology.FindStringSubmatch(g.metric("Topology")); m != nil {
		cores, _ := strconv.Atoi(m[1])
		if s.VCPUs, _ = strconv.Atoi(m[2]); s.VCPUs == 0 {
			s.VCPUs = cores
		}
		if cores > 0 && s.VCPUs%cores == 0 {
			s.ThreadsPerCore = s.VCPUs / cores
		}
	}
	return s
}

var geekbenchNames = map[string]string{"instanceType": "instanceType", "vcpus": "Topology"}

// readGeekbench reads the result of one machine. Its tests are rows. Results do not have a time,
// so that it is the time when they are read.
func readGeekbench(in *bufio.Reader, c *collector) error {
	var g geekbenchResult
	if err := document(in, &g); err != nil {
		return err
	}
	server, model := g.server(&c.options), nodetype.ModelName(g.metric("Processor"))
	if server.InstanceType == "" {
		return errors.New("the result does not name its machine type: set instanceType of the feed (--instance-type)")
	}
	for _, section := range g.Sections {
		single := strings.HasPrefix(strings.ToLower(section.Name), "single")
		for _, test := range section.Workloads {
			c.result.Rows++
			if fault := c.geekbench(&g, server, model, single, test.Name, test.Score); fault != nil {
				c.fault(documentLine, 1, fault.of(section.Name, test.Name))
			}
		}
	}
	c.finish("geekbench", geekbenchNames)
	return nil
}

func (c *collector) geekbench(g *geekbenchResult, server Server, model string, single bool, name string, score json.Number) *Fault {
	id := "geekbench:" + strings.ReplaceAll(strings.ToLower(name), " ", "_")
	of, test, fault := c.suite(id, func(string) string { return "" })
	if fault != nil {
		return fault
	}
	value, fault := record(func(string) string { return score.String() }).number("score")
	if fault != nil {
		return fault
	}
	key := machineKey{name: server.InstanceType, suite: of.Name, version: of.Comparable(g.Version), cpuModel: model}
	return c.take(documentLine, row{machineKey: key, suite: of, test: test, single: single, run: run{value, c.options.Now, true}, server: server}, geekbenchNames)
}
