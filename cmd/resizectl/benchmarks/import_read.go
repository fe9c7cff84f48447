package benchmarks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// detectBytes is how much of a file is used to detect its format.
const detectBytes = 64 << 10

// read reads a file, and records what is wrong with its rows.
func (o *importOptions) read(ctx context.Context, file string) (*imported, []*workloadresizerv1.BenchmarkSample, error) {
	name := file
	var in io.Reader
	if file == "-" {
		name = "stdin"
		text, err := command.ReadInput(ctx, o.In)
		if err != nil {
			return nil, nil, fmt.Errorf("read the measurements from standard input: %w", err)
		}
		in = bytes.NewReader(text)
	} else {
		f, err := open(file)
		if err != nil {
			return nil, nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	buffered := bufio.NewReaderSize(in, detectBytes)
	as, err := o.formatOf(name, buffered)
	if err != nil {
		return nil, nil, err
	}
	options := feed.Options{Source: o.source, Benchmark: o.benchmark, InstanceType: o.instance, Now: time.Now(), VCPUs: o.vcpus}
	if options.Servers, err = o.readServers(); err != nil {
		return nil, nil, err
	}
	result, err := feed.Read(as, buffered, options)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s as %s: %w", name, as, err)
	}
	if result.Rows == 0 {
		return nil, nil, fmt.Errorf("%s has no measurements as %s: name a file with measurements", name, as)
	}
	done := &imported{File: name, Format: string(as), Rows: result.Rows, Skipped: result.Skipped, Bad: result.Bad, Reasons: result.Reasons, lines: result.Lines}
	for _, fault := range result.Faults {
		done.Faults = append(done.Faults, importFault{Line: fault.Line, Field: fault.Field, Message: fault.Reason})
	}
	samples := make([]*workloadresizerv1.BenchmarkSample, len(result.Samples))
	for i := range result.Samples {
		samples[i] = sampleInAPI(&result.Samples[i])
	}
	return done, samples, nil
}

// open opens a file that is not a directory, which could be opened, but not read.
func open(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, command.FileError(name, err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(command.FileError(name, syscall.EISDIR), file.Close())
	}
	return file, nil
}

// readServers reads the table of servers; nil if the user names none.
func (o *importOptions) readServers() (feed.Servers, error) {
	if o.servers == "" {
		return nil, nil
	}
	file, err := open(o.servers)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	servers, err := feed.ReadServers(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", o.servers, err)
	}
	return servers, nil
}

// formatOf returns the format that was named, or that the content has.
func (o *importOptions) formatOf(name string, in *bufio.Reader) (feed.Format, error) {
	as := feed.Format(o.format)
	if o.format == formatAuto {
		// If there is some content, the error is returned when the rest is read.
		head, err := in.Peek(detectBytes)
		if len(head) == 0 {
			return "", nothingIn(name, err)
		}
		var found bool
		if as, found = feed.Detect(head); !found {
			if err := feed.CheckText(head, err != nil); err != nil {
				return "", fmt.Errorf("read %s: %w", name, err)
			}
			return "", fmt.Errorf("the content of %s matches none of the formats, as text or compressed with gzip or xz; set its format with --format: %s", name, strings.Join(feedFormats()[1:], ", "))
		}
	}
	if as == feed.CloudCSV && o.benchmark == "" {
		return "", fmt.Errorf("%s is a cloud-csv table, which does not name the benchmark; set it with --benchmark, such as coremark", name)
	}
	return as, nil
}

// nothingIn returns why there is no content to detect a format from.
func nothingIn(name string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s is empty: name a file with measurements", name)
	}
	return command.FileError(name, err)
}

// sampleInAPI returns a sample in the form of the API.
func sampleInAPI(s *sample.Sample) *workloadresizerv1.BenchmarkSample {
	return &workloadresizerv1.BenchmarkSample{
		Id: s.ID, NodeType: s.NodeType, InstanceType: s.InstanceType, CpuModel: s.CPUModel,
		Benchmark: s.Benchmark, Version: s.Version, Score: s.Score, Unit: s.Unit,
		Vcpus: int32(s.VCPUs), ThreadsPerCore: known(int32(s.ThreadsPerCore)), Threads: int32(s.Threads), SingleThreadScore: known(s.SingleThread), Runs: known(int32(s.Runs)),
		Machine: s.Machine, MeasureTime: timestamppb.New(s.Time), SpotCheck: s.Spot, Source: s.Source,
		OtherLoad: known(s.OtherLoad),
	}
}

// known returns a number of a sample; nil for 0, which means that it is not known.
func known[N int32 | float64](n N) *N {
	if n == 0 {
		return nil
	}
	return &n
}
