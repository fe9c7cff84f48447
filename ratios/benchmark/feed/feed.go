package feed

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Format is the format of a feed.
type Format string

// The supported formats. All of them may be compressed with gzip or xz.
const (
	// PerfKit is what PerfKitBenchmarker writes with `--json_path`: a row per line, with `labels` or `metadata`. The number
	// of threads is in `thread_count`, `spec17_copies` or `num_parallel_copies`; a run on one thread is the score of a single
	// thread.
	PerfKit Format = "perfkit"
	// SpareCores is rows of Spare Cores' table `benchmark_score`, as a JSON array, as one JSON object per line, or as CSV. If
	// `server_id` is a number, as on Google, rows need the table `server` in the same notations (`servers` of the feed,
	// `--servers`), or its columns `api_reference` and `vcpus`. The published dump, SQL that SQLite writes, has both tables.
	SpareCores Format = "sparecores"
	// CloudCSV is a table as a cloud provider publishes it, as CSV or Markdown, a row per VM size. Only `VM Size` and `Avg
	// Score` are required, and `benchmark` of the feed. Commas, semicolons or tabs separate the columns, as the header or a
	// first line such as `sep=;` shows. With semicolons or tabs, numbers may have a decimal comma;
	// `131,477` then has two meanings, so the row is invalid.
	CloudCSV Format = "cloud-csv"
	// Geekbench is what Geekbench 6 writes with `--export-json`: the tests of one machine. Unless it is one of AWS, name its
	// type (`instanceType` of the feed, `--instance-type`).
	Geekbench Format = "geekbench"
	// Phoronix is what `phoronix-test-suite result-file-to-json` writes. The names of its systems are instance types, or the
	// feed names the type.
	Phoronix Format = "phoronix"
	// Samples is one sample per line, as JSON, as `bench-node --output` writes them.
	Samples Format = "samples"
)

// Formats lists the supported formats.
var Formats = []Format{PerfKit, SpareCores, CloudCSV, Geekbench, Phoronix, Samples}

// Options supplies what the feed does not contain.
type Options struct {
	// Source is the name of the feed, for samples that do not name a source.
	Source string
	// Benchmark is the benchmark of a CloudCSV feed, which does not name it; for
	// other formats, it is the only benchmark to read, or empty for all.
	Benchmark string
	// InstanceType is the instance type of the machine that a Geekbench or Phoronix feed
	// is about.
	InstanceType string
	// Servers is the table of servers of a SpareCores feed.
	Servers Servers
	// MaxAge is the age from which rows are skipped; 0 means never.
	MaxAge time.Duration
	// Now is the current time, which is also the time of rows without their own.
	Now time.Time
	// VCPUs of instance types, for rows that do not state the number. Otherwise, the
	// number comes from the name of the type if the name contains it, as in
	// n4-standard-8, Standard_D8as_v5 and m7i.2xlarge.
	VCPUs map[string]int
}

// Fault describes an invalid row.
type Fault struct {
	// Line counts from 1. In a JSON array, it is the line where the row begins. It is 1 in a format
	// that is one JSON document, where Field names the result.
	Line int
	// Field is the name of the column or key; empty if the fault affects the whole
	// row.
	Field string
	// Code is the reason why the row is not used.
	Code Reason
	// Reason describes what is wrong, or what is required.
	Reason string
}

// maxFaults is the maximum number of faults in a Result.
const maxFaults = 100

// Result is the result of reading a feed.
type Result struct {
	// Samples are the samples of the valid rows. They are valid except for the node
	// type, which is empty if the row has an instance type.
	Samples []sample.Sample
	// Lines are the lines of the samples, as in Fault, one per sample: the first line if a
	// sample is from several rows.
	Lines []int
	// Rows is the number of all rows. Skipped rows are valid but do not describe a
	// node's speed. Bad rows have a fault. The others are in samples.
	Rows, Skipped, Bad int
	// Reasons are the numbers of skipped and bad rows by reason.
	Reasons map[Reason]int
	// Faults are the first maxFaults faults. A fault may be about several rows.
	Faults []Fault
}

// Read reads a feed to its end. The feed may be large: only its samples stay in memory, and
// their number is limited. The error explains why the feed cannot be read as a whole; samples
// that were read before are discarded.
func Read(f Format, r io.Reader, o Options) (Result, error) {
	readers := map[Format]func(*bufio.Reader, *collector) error{
		PerfKit: readPerfKit, SpareCores: readSpareCores, CloudCSV: readCloudCSV,
		Geekbench: readGeekbench, Phoronix: readPhoronix, Samples: readSamples,
	}
	read := readers[f]
	if read == nil {
		return Result{}, fmt.Errorf("unknown format %q: it must be one of %q", f, Formats)
	}
	if err := CheckBenchmark(f, o.Benchmark); err != nil {
		return Result{}, fmt.Errorf("benchmark %w", err)
	}
	in, err := decompressed(r)
	if err != nil {
		return Result{}, err
	}
	c := newCollector(o)
	if err := read(in, c); err != nil {
		return Result{}, err
	}
	return c.result, nil
}
