package feed

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Format is the format of a feed.
type Format string

// The supported formats.
const (
	// PerfKit is the newline-delimited JSON of PerfKitBenchmarker, with labels or
	// metadata. Its "Coremark Score" is the benchmark coremark; others are
	// test:metric in lower case. A metric counts if it is not a time or a
	// percentage and it ran on all vCPUs (thread_count equals num_cpus). CoreMark
	// always runs on all vCPUs.
	PerfKit Format = "perfkit"
	// SpareCores is rows of the benchmark_score table of Spare Cores, as a JSON
	// array, newline-delimited JSON or CSV, optionally with the server's
	// api_reference and vcpus. Only benchmarks that are known to load all vCPUs are
	// read. Their config is part of the benchmark's name, e.g.
	// "openssl algo:sha256 block_size:1024".
	SpareCores Format = "sparecores"
	// CloudCSV is a table in the format that a cloud publishes, one row per VM
	// size: VM Size, CPU, vCPUs, NUMA Nodes, Memory(GiB), Avg Score, StdDev,
	// StdDev%, #Runs. The order of columns is free; only VM Size and Avg Score are
	// required.
	CloudCSV Format = "cloud-csv"
	// Samples is newline-delimited JSON, one sample per line.
	Samples Format = "samples"
)

// Formats lists the supported formats.
var Formats = []Format{PerfKit, SpareCores, CloudCSV, Samples}

// Options supplies what the feed does not contain.
type Options struct {
	// Source is the name of the feed, for samples that do not name a source.
	Source string
	// Benchmark is the benchmark of a CloudCSV feed, which does not name it; for
	// other formats, it is the only benchmark to read, or empty for all.
	Benchmark string
	// Now is the current time, which is also the time of rows without their own.
	Now time.Time
	// VCPUs of instance types, for rows that do not state the number. Otherwise, the
	// number comes from the name of the type if the name contains it, as in
	// n4-standard-8 and Standard_D8as_v5.
	VCPUs map[string]int
}

// Fault describes an invalid row.
type Fault struct {
	// Line counts from 1. In a JSON array, it is the line where the row begins.
	Line int
	// Field is the name of the column or key; empty if the fault affects the whole
	// row.
	Field string
	// Reason describes what is wrong, or what is required.
	Reason string
}

// MaxFaults is the maximum number of faults in a Result.
const MaxFaults = 100

// Result is the result of reading a feed.
type Result struct {
	// Samples are the samples of the valid rows. They are valid except for the node
	// type, which is empty if the row has an instance type.
	Samples []sample.Sample
	// Lines are the lines of the samples, as in Fault, one per sample.
	Lines []int
	// Rows is the number of all rows. Skipped rows are valid but do not describe a
	// node's speed, e.g. they are for a single thread. Bad rows have a fault.
	Rows, Skipped, Bad int
	// Faults are the first MaxFaults faults, one per bad row.
	Faults []Fault
}

// Read reads a feed to its end. The feed may be large: only its samples stay in memory. The
// error explains why the feed cannot be read as a whole; samples that were read before are
// discarded.
func Read(f Format, r io.Reader, o Options) (Result, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if head, _ := in.Peek(len(byteOrderMark)); bytes.Equal(head, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // The bytes are buffered.
	}
	c := &collector{options: o}
	var err error
	switch f {
	case PerfKit:
		err = readPerfKit(in, c)
	case SpareCores:
		err = readSpareCores(in, c)
	case CloudCSV:
		err = readCloudCSV(in, c)
	case Samples:
		err = readSamples(in, c)
	default:
		err = fmt.Errorf("unknown format %q: it must be one of %q", f, Formats)
	}
	if err != nil {
		return Result{}, err
	}
	return c.result, nil
}

// byteOrderMark is written at the start of UTF-8 text by some programs.
var byteOrderMark = []byte("\uFEFF")
