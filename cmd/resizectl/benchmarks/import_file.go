package benchmarks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
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

// imported is the result of a file.
type imported struct {
	File   string `json:"file"`
	Format string `json:"format"`
	// Rows, Skipped and Bad count rows of the file, the others its samples.
	Rows     int   `json:"rows"`
	Skipped  int   `json:"skipped"`
	Bad      int   `json:"bad"`
	Stored   int64 `json:"stored"`
	Known    int64 `json:"known"`
	Old      int64 `json:"old"`
	Rejected int64 `json:"rejected"`
	// Reasons are the numbers of skipped and bad rows by reason.
	Reasons map[feed.Reason]int `json:"reasons,omitempty"`
	// Faults are about the first bad rows, Rejections about the first rejected samples.
	Faults     []importFault `json:"faults,omitempty"`
	Rejections []importFault `json:"rejections,omitempty"`

	// lines are the lines of the samples.
	lines []int
}

// importFault describes an invalid row or sample.
type importFault struct {
	Line int `json:"line"`
	// Field is empty if the fault is not about a single field.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// send sends the samples to be stored or, with validateOnly, to be checked.
func (i *imported) send(ctx context.Context, c *client.Client, samples []*workloadresizerv1.BenchmarkSample, validateOnly bool, line *print.Progress) error {
	if len(samples) == 0 {
		return nil
	}
	resp, err := c.IngestSamples(ctx, samples, validateOnly, func(sent, total int64) {
		line.Of("importing "+print.OneLine(i.File)+":", sent, total, print.CountOf(total, "sample"))
	})
	line.Clear()
	if err != nil {
		return err
	}
	i.Stored, i.Known, i.Old, i.Rejected = resp.GetStored(), resp.GetKnown(), resp.GetOld(), resp.GetRejected()
	for _, rejected := range resp.GetErrors() {
		fault := importFault{Field: rejected.GetField(), Message: rejected.GetMessage()}
		if n := rejected.GetIndex(); n >= 0 && n < int64(len(i.lines)) {
			fault.Line = i.lines[n]
		}
		i.Rejections = append(i.Rejections, fault)
	}
	return nil
}

// faults says what is wrong with the file, one line each.
func (i *imported) faults() (lines []string) {
	for _, of := range []struct {
		faults []importFault
		all    int64
		what   string
	}{{i.Faults, int64(i.Bad), "bad"}, {i.Rejections, i.Rejected, "rejected"}} {
		for _, fault := range of.faults {
			lines = append(lines, faultLine(i.File, fault.Line, fault.Field, fault.Message))
		}
		lines = append(lines, moreFaults(i.File, of.all-int64(len(of.faults)), of.what))
	}
	return lines
}

// print prints the totals; nothing if no file was imported.
func (o *importOptions) print(all []*imported) error {
	if len(all) == 0 {
		return nil
	}
	if !o.Format.IsDocument() {
		return o.Table(importTable(all, o.dryRun.On()))
	}
	return o.Value(map[string]any{"files": all})
}

// importTable returns a table with a row per file, and one for all of them. In a dry run,
// nothing is stored.
func importTable(all []*imported, tried bool) *metav1.Table {
	stored := "Stored"
	if tried {
		stored = "Would Be Stored"
	}
	if len(all) > 1 {
		total := &imported{File: "all files", Format: print.Absent}
		for _, i := range all {
			total.Rows, total.Skipped, total.Bad = total.Rows+i.Rows, total.Skipped+i.Skipped, total.Bad+i.Bad
			total.Stored, total.Known, total.Old, total.Rejected = total.Stored+i.Stored, total.Known+i.Known, total.Old+i.Old, total.Rejected+i.Rejected
		}
		all = append(slices.Clone(all), total)
	}
	return objects.Table([]objects.Column[*imported]{
		objects.Cell("File", func(i *imported) any { return print.OneLine(i.File) }),
		objects.Cell("Format", func(i *imported) any { return i.Format }),
		objects.Count("Rows", func(i *imported) int64 { return int64(i.Rows) }),
		objects.Count("Skipped", func(i *imported) int64 { return int64(i.Skipped) }),
		objects.Count("Bad", func(i *imported) int64 { return int64(i.Bad) }),
		objects.Count(stored, func(i *imported) int64 { return i.Stored }),
		objects.Count("Known", func(i *imported) int64 { return i.Known }),
		objects.Count("Old", func(i *imported) int64 { return i.Old }),
		objects.Count("Rejected", func(i *imported) int64 { return i.Rejected }),
	}, all...)
}

// faultLine says what is wrong with a row of a file or feed, in the form that editors
// recognize. Line 0 is an unknown line, and an empty field is the whole row.
func faultLine(where string, line int, field, message string) string {
	text := print.OneLine(where)
	if line > 0 {
		text += fmt.Sprintf(":%d", line)
	}
	if field != "" {
		text += ": " + print.OneLine(field)
	}
	return text + ": " + print.OneLine(message)
}

// moreFaults says how many more rows there are that are not shown; empty if there are none.
func moreFaults(where string, n int64, how string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%s: not shown: %s", print.OneLine(where), print.CountOf(n, "more "+how+" row"))
}
