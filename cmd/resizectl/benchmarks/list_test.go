package benchmarks

import (
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Tables have ages as of now, and documents have times.
func TestBenchmarkList(t *testing.T) {
	for _, tc := range []struct {
		output string
		newest time.Time
	}{
		{"table", cmdtest.Since.Add(-20 * 24 * time.Hour)}, {"wide", cmdtest.Since.Add(-20 * 24 * time.Hour)},
		{"json", cmdtest.Since}, {"yaml", cmdtest.Since},
	} {
		address := cmdtest.Answering(cmdtest.Pages(2, &workloadresizerv1.ListBenchmarksResponse{Benchmarks: measurements(tc.newest)})).Serve(t)
		code, stdout, stderr := program.Shell(t.Context(), "benchmark", "list", "--server", address, "-o", tc.output)
		if code != command.ExitOK || stderr != "" {
			t.Errorf("-o %s: exit %d, stderr %q", tc.output, code, stderr)
		}
		cmdtest.Golden(t, "benchmarks."+tc.output, stdout)
	}
}

func TestList(t *testing.T) {
	t.Run("requests one node type and benchmark", requestsOneNodeTypeAndBenchmark)
}

func requestsOneNodeTypeAndBenchmark(t *testing.T) {
	server := &cmdtest.Fake{}
	code, stdout, stderr := program.Shell(t.Context(), "benchmark", "list", "n4@Intel-6-207", "--benchmark", "coremark", "--server", server.Serve(t))
	if code != command.ExitOK || stdout != "" || stderr != "no such measurements found, or they are too old\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	asked := server.LastRequest().(*workloadresizerv1.ListBenchmarksRequest)
	if asked.GetNodeType() != "n4@Intel-6-207" || asked.GetBenchmark() != "coremark" {
		t.Errorf("wrong request %v", asked)
	}
}

func TestBenchmarkUsage(t *testing.T) {
	server := &cmdtest.Fake{}
	address := server.Serve(t)
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"an empty node type to list", "the node type is empty; omit it for all of them", []string{"list", ""}},
		{"two node types to list", "too many arguments: expected [NODE_TYPE], not n4 c3", []string{"list", "n4", "c3"}},
		{"an empty feed", "the name of the feed is empty; omit it for all of them", []string{"feeds", ""}},
		{"an empty node type to accept", "the node type is empty", []string{"accept", ""}},
		{"no node type to accept", "missing arguments: expected NODE_TYPE", []string{"accept"}},
		{"accept without a terminal", "benchmark accept requires --yes if standard input is not a terminal", []string{"accept", "n4"}},
		{"two ends", "--for and --until cannot be combined", []string{"accept", "n4", "--for", "1h", "--until", "never"}},
		{"an end that is not a time", "--until must be a time such as 2026-11-21T18:00:00Z, or never, not \"soon\"", []string{"accept", "n4", "--until", "soon"}},
		{"nothing to import", "missing arguments: expected FILE...", []string{"import"}},
		{"an empty file", "the name of the file is empty", []string{"import", ""}},
		{"standard input twice", "standard input (-) can be read only once", []string{"import", "-", "-"}},
		{"an unknown format", "invalid argument \"xml\" for \"--format\" flag: must be one of auto, perfkit, sparecores, cloud-csv, geekbench, phoronix, samples", []string{"import", "a", "--format", "xml"}},
		{"no vCPUs", "invalid argument \"m7i.large=0\" for \"--vcpus\" flag: m7i.large must have 1 to 4096 vCPUs, not \"0\"", []string{"import", "a", "--vcpus", "m7i.large=0"}},
		{"a fraction of a vCPU", "invalid argument \"m7i.large=1.5\" for \"--vcpus\" flag: m7i.large must have 1 to 4096 vCPUs, not \"1.5\"", []string{"import", "a", "--vcpus", "m7i.large=1.5"}},
		{"more vCPUs than machines have", "invalid argument \"a=2,b=5000\" for \"--vcpus\" flag: b must have 1 to 4096 vCPUs, not \"5000\"", []string{"import", "a", "--vcpus", "a=2,b=5000"}},
		{"vCPUs of no instance type", "invalid argument \"=5\" for \"--vcpus\" flag: must be instance types with their vCPUs, such as m7i.large=2,m7i.xlarge=4", []string{"import", "a", "--vcpus", "=5"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"benchmark", "--server", address}, tc.args...)...)
			want := "error: " + tc.want + "; see \"resizectl benchmark " + tc.args[0] + " --help\"\n"
			if code != command.ExitError || stdout != "" || stderr != want {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
			}
		})
	}
	if asked := server.LastRequest(); asked != nil {
		t.Errorf("the server received %v", asked)
	}
}

func TestNumbersOfBenchmarks(t *testing.T) {
	for got, want := range map[string]string{
		score(0): "-", score(1.23456): "1.235", score(20482.04): "20482.0", percent(0.0123): "1.2%",
		changedBy(1.25, 1.08).Text: "-13.6%", changedBy(1, 1.1).Text: "+10.0%", changedBy(1, 1).Text: "0.0%", changedBy(0, 1).Text: "-",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if changedBy(1, 1.1).Style != print.Freed || changedBy(1.1, 1).Style != print.Added {
		t.Error("a faster node type must free, and a slower one must add")
	}
}

func TestBenchmarkCompletion(t *testing.T) {
	address := suggesting().Serve(t)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"accept", ""}, "c3\t1.3 → -\ne2\t- → 0.8\nn4\t1.08 → 1.123\nn4@Intel-6-207\t- → 1.13\n"},
		{[]string{"accept", "n4", ""}, ""},
		{[]string{"feeds", ""}, "coremark-table\thttps://example.com/coremark.csv\nlab\tConfigMap bench-results, key samples.jsonl\nnightly\t/feeds/nightly.json\npassmark-scores\thttps://example.com/scores.json\n"},
		{[]string{"list", "--benchmark", ""}, "bench-node:memory-bandwidth\ton 3 machines\ncoremark\ton 2 machines\n"},
		{[]string{"import", "a", "--format", ""}, "auto\nperfkit\nsparecores\ncloud-csv\ngeekbench\nphoronix\nsamples\n"},
	} {
		_, stdout, _ := program.Shell(t.Context(), append([]string{"__complete", "benchmark", "--server", address}, tc.args...)...)
		if got := stdout[:strings.LastIndex(stdout, ":")]; got != tc.want {
			t.Errorf("%q is completed as\n%swant\n%s", tc.args, got, tc.want)
		}
	}
}
