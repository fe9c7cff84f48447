package feed

import (
	"bufio"
	"errors"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// Columns of a table in the format that a cloud publishes: VM Size, CPU, vCPUs, NUMA Nodes,
// Memory(GiB), Avg Score, StdDev, StdDev%, #Runs.
const (
	columnSize   = "VM Size"
	columnCPU    = "CPU"
	columnVCPUs  = "vCPUs"
	columnNUMA   = "NUMA Nodes"
	columnMemory = "Memory(GiB)"
	columnScore  = "Avg Score"
	columnStdDev = "StdDev"
	columnRuns   = "#Runs"
)

// cloudColumns are the columns that a table must have.
var cloudColumns = []string{columnSize, columnScore}

// cloudNames maps the fields of a sample to their columns.
var cloudNames = map[string]string{
	"instanceType": columnSize, "cpuModel": columnCPU, "vcpus": columnVCPUs, "score": columnScore, "runs": columnRuns,
}

// readCloudCSV reads a table of one benchmark that has, for each VM size, the average score of
// runs on all vCPUs.
func readCloudCSV(in *bufio.Reader, c *collector) error {
	if c.options.Benchmark == "" {
		return errors.New("the format cloud-csv does not name the benchmark: set benchmark of the feed (--benchmark)")
	}
	take := func(line int, r record, fault *Fault) {
		var s *sample.Sample
		if fault == nil {
			s, fault = c.cloudRow(r)
		}
		c.add(line, s, fault, cloudNames)
	}
	if isMarkdown(in) {
		return markdown(in, cloudColumns, take)
	}
	return table(in, cloudColumns, []string{columnVCPUs, columnScore, columnRuns}, take)
}

func (c *collector) cloudRow(r record) (*sample.Sample, *Fault) {
	size := r(columnSize)
	if size == "" {
		return nil, &Fault{Field: columnSize, Reason: "must be set"}
	}
	score, fault := r.number(columnScore)
	if fault != nil {
		return nil, fault
	}
	said, fault := r.count(columnVCPUs)
	if fault != nil {
		return nil, fault
	}
	vcpus, fault := c.options.vcpus(said, columnVCPUs, size)
	if fault != nil {
		return nil, fault
	}
	runs, fault := r.count(columnRuns)
	if fault != nil {
		return nil, fault
	}
	model := nodetype.ModelName(r(columnCPU))
	// Rows have no time. Rows with the same figures are the same measurement, no
	// matter when they are read. Different figures are a new measurement of the same
	// machine.
	machine := []string{size, model, r(columnNUMA), pointed(r(columnMemory))}
	figures := []string{r(columnVCPUs), r(columnScore), pointed(r(columnStdDev)), r(columnRuns)}
	return &sample.Sample{
		ID:           digest(append(append([]string{"cloud-csv", c.options.Benchmark}, machine...), figures...)...),
		InstanceType: size,
		CPUModel:     model,
		Benchmark:    c.options.Benchmark,
		Score:        score,
		VCPUs:        vcpus,
		Threads:      vcpus,
		Runs:         runs,
		Machine:      strings.Join(machine, "/"),
		Time:         c.options.Now,
	}, nil
}
