package feed

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Format is how a feed is written.
type Format string

// The formats that there are.
const (
	// PerfKit is PerfKitBenchmarker's newline JSON, with labels or metadata. Its
	// "Coremark Score" is the benchmark coremark, others are test:metric in lower
	// case. A metric counts if it is no time or share, and says that it ran on all
	// vCPUs (thread_count is num_cpus), which CoreMark always does.
	PerfKit Format = "perfkit"
	// SpareCores is rows of Spare Cores' benchmark_score, as a JSON array, newline
	// JSON or CSV, perhaps with the server's api_reference and vcpus beside. Of the
	// benchmarks those are read that are known to load all vCPUs; what their config
	// says is part of the name, e.g. "openssl algo:sha256 block_size:1024".
	SpareCores Format = "sparecores"
	// CloudCSV is a table as a cloud publishes it, one row per VM size: VM Size,
	// CPU, vCPUs, NUMA Nodes, Memory(GiB), Avg Score, StdDev, StdDev%, #Runs, in
	// any order; only VM Size and Avg Score must be there.
	CloudCSV Format = "cloud-csv"
	// Samples is newline JSON of samples, one per line.
	Samples Format = "samples"
)

// Formats lists them.
var Formats = []Format{PerfKit, SpareCores, CloudCSV, Samples}

// Options say what a feed itself does not.
type Options struct {
	// Source is the name of the feed, in samples that name none.
	Source string
	// Benchmark is the one of a CloudCSV, which does not name it; for other
	// formats, the only one to read, or empty for all.
	Benchmark string
	// Now is the time; rows without a time of their own are as of now.
	Now time.Time
	// VCPUs of instance types, where a row does not say. Without, the name of the
	// type counts if it tells, as with n4-standard-8 and Standard_D8as_v5.
	VCPUs map[string]int
}

// Fault is what is wrong with one row.
type Fault struct {
	// Line counts from 1. Of a JSON array it is where the row begins.
	Line int
	// Field is the name of the column or key, empty if it is the whole row.
	Field string
	// Reason says what is wrong, or what it must be.
	Reason string
}

// MaxFaults is how many faults a Result has at most.
const MaxFaults = 100

// Result is what was read.
type Result struct {
	// Samples are of the good rows. They are valid but for the node type, which
	// is empty where the row has an instance type.
	Samples []sample.Sample
	// Lines are where the samples are, as in Fault, one for each of them.
	Lines []int
	// Rows is how many there were, Skipped those that are fine but say nothing of
	// a node's speed, e.g. of one thread alone, and Bad those with a fault.
	Rows, Skipped, Bad int
	// Faults are the first MaxFaults, one per bad row.
	Faults []Fault
}

// Read reads a feed to its end, which may be large: only its samples are kept. The
// error says why it cannot be read as a whole; what was read before it is lost.
func Read(f Format, r io.Reader, o Options) (Result, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if head, _ := in.Peek(len(byteOrderMark)); bytes.Equal(head, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // They are buffered.
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
		err = fmt.Errorf("format %q is unknown: it must be one of %q", f, Formats)
	}
	if err != nil {
		return Result{}, err
	}
	return c.result, nil
}

// byteOrderMark is what some programs begin UTF-8 text with.
var byteOrderMark = []byte("\uFEFF")
