package benchmarks

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	goodSamples = "testdata/benchmark/samples.jsonl"
	badSamples  = "testdata/benchmark/bad.jsonl"
)

// rejecting returns a server that rejects the second of two samples.
func rejecting() *cmdtest.Fake {
	return cmdtest.Answering(cmdtest.Returns(&workloadresizerv1.IngestSamplesResponse{Stored: 1, Rejected: 3, Known: 2, Old: 4, Errors: []*workloadresizerv1.SampleError{
		{Index: 1, Id: "run-4", Code: workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_UNKNOWN, Field: "node", Message: "there is no node\x1b \"node-3\""},
		{Index: 7, Id: "run-9", Message: "is not one of the file"},
	}}))
}

// storing returns a server that stores all samples.
func storing() *cmdtest.Fake {
	return cmdtest.Answering(cmdtest.On(func(req *workloadresizerv1.IngestSamplesRequest) (*workloadresizerv1.IngestSamplesResponse, error) {
		return &workloadresizerv1.IngestSamplesResponse{Stored: int64(len(req.GetSamples()))}, nil
	}))
}

// sent returns the samples that arrived.
func sent(server *cmdtest.Fake) (all []*workloadresizerv1.IngestSamplesRequest) {
	for _, req := range server.Requests() {
		all = append(all, req.(*workloadresizerv1.IngestSamplesRequest))
	}
	return all
}

func importing(t *testing.T, server *cmdtest.Fake, args ...string) []string {
	return append([]string{"benchmark", "import", "--server", server.Serve(t)}, args...)
}

func TestImport(t *testing.T) {
	t.Run("imports good files", importsGoodFiles)
	t.Run("shows the progress on a terminal", showsTheProgressOnATerminal)
	t.Run("reports bad rows", reportsBadRows)
	t.Run("reports bad rows and rejected samples separately", reportsBadRowsAndRejectedSamplesSeparately)
	t.Run("sends samples as they are", sendsSamplesAsTheyAre)
	t.Run("imports standard input", importsStandardInput)
	t.Run("imports what can be read", importsWhatCanBeRead)
	t.Run("rejects empty input", rejectsEmptyInput)
	t.Run("counts the faults that are not shown", countsTheFaultsThatAreNotShown)
	t.Run("imports a table", importsATable)
	t.Run("imports tables that Excel saves", importsTablesThatExcelSaves)
	t.Run("notes benchmarks that are not in the table of suites", notesBenchmarksThatAreNotInTheTableOfSuites)
}

func importsGoodFiles(t *testing.T) {
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"import.table", []string{goodSamples}},
		{"import-several.table", []string{goodSamples, goodSamples}},
		{"import-dry-run.table", []string{goodSamples, "--dry-run"}},
		{"import-benchmark.table", []string{goodSamples, "--benchmark", "coremark", "--format", "samples"}},
	} {
		server := storing()
		code, stdout, stderr := program.Shell(t.Context(), importing(t, server, tc.args...)...)
		if code != command.ExitOK || stderr != "" {
			t.Errorf("%q: exit %d, stderr %q", tc.args, code, stderr)
		}
		cmdtest.Golden(t, tc.golden, stdout)
		for _, req := range sent(server) {
			if got, want := req.GetValidateOnly(), strings.Contains(tc.golden, "dry-run"); got != want {
				t.Errorf("%q: only validated: %v", tc.args, got)
			}
		}
	}
}

// Good rows count, and users can find the bad ones.
func showsTheProgressOnATerminal(t *testing.T) {
	screen := cmdtest.OpenTerminal(t)
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: screen.File}
	if code := program(t.Context(), streams, importing(t, storing(), goodSamples)); code != command.ExitOK {
		t.Fatalf("exit %d", code)
	}
	shown := screen.Shown(t)
	if !strings.Contains(shown, "importing "+goodSamples+": [##############################] 100% of 4 samples") || !strings.HasSuffix(shown, "\r\x1b[K") {
		t.Errorf("the terminal shows %q, want a bar that is removed in the end", shown)
	}
}

func reportsBadRows(t *testing.T) {
	for _, output := range print.Formats {
		code, stdout, stderr := program.Shell(t.Context(), importing(t, rejecting(), badSamples, "-o", output)...)
		if code != command.ExitNotImported {
			t.Errorf("-o %s: exit %d", output, code)
		}
		cmdtest.Golden(t, "import-bad."+output, stdout)
		cmdtest.Golden(t, "import-bad.faults", stderr)
	}
}

func reportsBadRowsAndRejectedSamplesSeparately(t *testing.T) {
	server := storing()
	if code, _, stderr := program.Shell(t.Context(), importing(t, server, badSamples)...); code != command.ExitNotImported || stderr == "" {
		t.Errorf("bad rows: exit %d, stderr %q", code, stderr)
	}
	if code, _, stderr := program.Shell(t.Context(), importing(t, rejecting(), goodSamples)...); code != command.ExitNotImported || stderr == "" {
		t.Errorf("rejected samples: exit %d, stderr %q", code, stderr)
	}
}

func sendsSamplesAsTheyAre(t *testing.T) {
	server := storing()
	if code, _, stderr := program.Shell(t.Context(), importing(t, server, goodSamples, "--source", "team")...); code != command.ExitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	at := func(day, hour int) *timestamppb.Timestamp {
		return timestamppb.New(time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC))
	}
	want := []*workloadresizerv1.IngestSamplesRequest{{Samples: []*workloadresizerv1.BenchmarkSample{
		{Id: "run-1", NodeType: "n4", CpuModel: "Intel-6-207", Benchmark: "coremark", Score: 177656, Vcpus: 8, Threads: 8, Machine: "node-1", MeasureTime: at(20, 10), Source: "team"},
		{Id: "run-2", NodeType: "n4", CpuModel: "Intel-6-207", Benchmark: "coremark", Version: "1.0", Score: 177101, Unit: "iterations/s", Vcpus: 8, Threads: 8,
			SingleThreadScore: new(41000.0), Machine: "node-2", MeasureTime: at(20, 11), Source: "lab"},
		{Id: "table-1", InstanceType: "n2d-standard-8", Benchmark: "coremark", Score: 163856, Vcpus: 8, Threads: 8, Runs: new(int32(12)), Machine: "n2d-standard-8", MeasureTime: at(20, 12), Source: "team"},
		{Id: "spot-1", NodeType: "n4", Benchmark: "bench-node:sha256", Score: 1200, Vcpus: 8, Threads: 1, Machine: "node-1", MeasureTime: at(21, 10), SpotCheck: true, Source: "team"},
	}}}
	if diff := cmp.Diff(want, sent(server), protocmp.Transform()); diff != "" {
		t.Errorf("wrong samples (-want +got):\n%s", diff)
	}
}

func importsStandardInput(t *testing.T) {
	server := storing()
	var stdout, stderr bytes.Buffer
	in := strings.NewReader(`{"id":"a","nodeType":"n4","benchmark":"coremark","score":1,"vcpus":1,"threads":2,"machine":"m","time":"2026-11-20T10:00:00Z"}`)
	code := program(t.Context(), genericiooptions.IOStreams{In: in, Out: &stdout, ErrOut: &stderr}, importing(t, server, "-"))
	if code != command.ExitNotImported || !strings.HasPrefix(stderr.String(), "stdin:1: threads: ") || server.LastRequest() != nil {
		t.Errorf("exit %d, stderr %q, request %v", code, &stderr, server.LastRequest())
	}
}

// Files that can be read are imported.
func importsWhatCanBeRead(t *testing.T) {
	server := storing()
	unknown := cmdtest.File(t, "notes.txt", []byte("hello"))
	table := cmdtest.File(t, "table.csv", []byte("VM Size"))
	code, stdout, stderr := program.Shell(t.Context(), importing(t, server, "no-such-file", unknown, goodSamples)...)
	want := "error: no-such-file does not exist: check the name of the file\n" +
		"error: the content of " + unknown + " matches none of the formats, as text or compressed with gzip or xz; " +
		"set its format with --format: perfkit, sparecores, cloud-csv, geekbench, phoronix, samples\n"
	if code != command.ExitError || !strings.Contains(stdout, goodSamples) || stderr != want || len(sent(server)) != 1 {
		t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
	}
	want = "error: " + table + " is a cloud-csv table, which does not name the benchmark; set it with --benchmark, such as coremark\n"
	if code, stdout, stderr = program.Shell(t.Context(), importing(t, server, table, "--format", "cloud-csv")...); code != command.ExitError || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
	}
}

// The format does not matter if there is nothing to read.
func rejectsEmptyInput(t *testing.T) {
	dir, empty := t.TempDir(), cmdtest.File(t, "empty.json", nil)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_ = w.Close() // A buffer takes everything.
	nothing := cmdtest.File(t, "nothing.gz", zipped.Bytes())
	truncated := cmdtest.File(t, "truncated.gz", zipped.Bytes()[:12])
	blank := cmdtest.File(t, "blank.json", []byte("\n\n"))
	header := cmdtest.File(t, "header.csv", []byte("VM Size,vCPUs,Avg Score\n"))
	for name, tc := range map[string]struct {
		file, want string
		flags      []string
	}{
		"an empty file":               {empty, empty + " is empty", nil},
		"a directory":                 {dir, dir + " is a directory", nil},
		"an empty compressed file":    {nothing, "read " + nothing + ": it is empty", nil},
		"a truncated compressed file": {truncated, "read " + truncated + ": the compressed content is truncated: ", nil},
		"a file with empty lines":     {blank, "read " + blank + ": it is empty", nil},
		"a table without rows":        {header, header + " has no measurements as cloud-csv", []string{"--benchmark", "coremark"}},
		"an empty file with a format": {empty, empty + " has no measurements as perfkit", []string{"--format", "perfkit"}},
	} {
		server := storing()
		code, stdout, stderr := program.Shell(t.Context(), importing(t, server, append([]string{tc.file}, tc.flags...)...)...)
		if code != command.ExitError || stdout != "" || !strings.HasPrefix(stderr, "error: "+tc.want) || strings.Contains(stderr, "--format") || strings.Count(stderr, "\n") != 1 || server.LastRequest() != nil {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, code, stdout, stderr)
		}
	}
}

func countsTheFaultsThatAreNotShown(t *testing.T) {
	var out bytes.Buffer
	i := &imported{File: "a\nb", Bad: 3, Faults: []importFault{{Line: 2, Field: "score", Message: "is bad"}}, Rejected: 2, Rejections: []importFault{{Message: "is\x1b wrong"}}}
	if err := print.Texts(&out, i.faults()...); err != nil {
		t.Fatal(err)
	}
	const want = "a b:2: score: is bad\na b: not shown: 2 more bad rows\na b: is  wrong\na b: not shown: 1 more rejected row\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

// The server's parser reads the table. This test checks what the parser is given.
func importsATable(t *testing.T) {
	const header = "VM Size,CPU,vCPUs,NUMA Nodes,Memory(GiB),Avg Score,StdDev,StdDev%,#Runs\n"
	server := storing()
	table := cmdtest.File(t, "table.csv", []byte(header+"n4-standard-8,,8,1,32,177656,2180,1.66%,140\nn4-odd,,,1,32,177656,2180,1.66%,140\n"))
	code, _, stderr := program.Shell(t.Context(), importing(t, server, table, "--benchmark", "coremark", "--vcpus", "n4-odd=4", "--source", "table")...)
	if code != command.ExitOK || stderr != "" {
		t.Fatalf("exit %d, stderr %q", code, stderr)
	}
	samples := sent(server)[0].GetSamples()
	if len(samples) != 2 {
		t.Fatalf("sent %v", samples)
	}
	if s := samples[0]; s.GetInstanceType() != "n4-standard-8" || s.GetBenchmark() != "coremark" || s.GetVcpus() != 8 || s.GetRuns() != 140 || s.GetSource() != "table" {
		t.Errorf("sent %v", s)
	}
	if s := samples[1]; s.GetInstanceType() != "n4-odd" || s.GetVcpus() != 4 {
		t.Errorf("sent %v", s)
	}
}

// Excel in languages with decimal commas separates columns with semicolons. "Unicode text" is UTF-16.
func importsTablesThatExcelSaves(t *testing.T) {
	const table = "VM Size;vCPUs;Avg Score;StdDev%\r\nn4-standard-8;8;177656,5;0,1%\r\nn4-standard-4;4;88,828;0,1%\r\n"
	for name, text := range map[string]string{
		"CSV":            table,
		"CSV UTF-8":      "\uFEFF" + table,
		"sep=":           "sep=;\r\n" + table,
		"Unicode text":   string(utf16le(strings.ReplaceAll(table, ";", "\t"))),
		"UTF-16, no BOM": string(utf16le(table)[2:]),
	} {
		server := storing()
		file := cmdtest.File(t, "table.csv", []byte(text))
		code, stdout, stderr := program.Shell(t.Context(), importing(t, server, file, "--benchmark", "coremark")...)
		if name == "UTF-16, no BOM" {
			if want := "error: read " + file + ": it is not UTF-8 text: save it as UTF-8\n"; code != command.ExitError || stdout != "" || stderr != want {
				t.Errorf("%s: exit %d, stdout %q, stderr %q", name, code, stdout, stderr)
			}
			continue
		}
		line := 3 + strings.Count(text, "sep=")
		want := fmt.Sprintf("%s:%d: Avg Score: \"88,828\" means 88828 or 88.828: write 88828 or 88.8280\n", file, line)
		if code != command.ExitNotImported || stderr != want {
			t.Errorf("%s: exit %d, stderr %q, want %q", name, code, stderr, want)
			continue
		}
		samples := sent(server)[0].GetSamples()
		if len(samples) != 1 || samples[0].GetInstanceType() != "n4-standard-8" || samples[0].GetScore() != 177656.5 {
			t.Errorf("%s: sent %v", name, samples)
		}
	}
}

// utf16le returns text in UTF-16 with a byte order mark.
func utf16le(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

// A table can be of any benchmark, and other formats only of suites.
func notesBenchmarksThatAreNotInTheTableOfSuites(t *testing.T) {
	table := cmdtest.File(t, "table.csv", []byte("VM Size,Avg Score\nn4-standard-8,177656\n"))
	const note = "note: cormark is not in the table of suites, so it counts as a benchmark of its own; check --benchmark for typos\n"
	code, _, stderr := program.Shell(t.Context(), importing(t, storing(), table, table, "--benchmark", "cormark")...)
	if code != command.ExitOK || stderr != note {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	export := cmdtest.File(t, "run.json", []byte(`{"metric":"Coremark Score","value":1,"test":"coremark","labels":"|machine_type:n4-standard-8|,|num_cpus:8|,|thread_count:8|"}`))
	code, stdout, stderr := program.Shell(t.Context(), importing(t, storing(), export, "--benchmark", "cormark")...)
	if code != command.ExitError || stdout != "" || !strings.Contains(stderr, `not "cormark": one of coremark, `) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
