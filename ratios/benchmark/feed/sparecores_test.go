package feed

import (
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

const (
	goodSpareCores   = `{"vendor_id":"gcp","server_id":"n4-standard-8","benchmark_id":"passmark:cpu_mark","config":{},"framework_version":"11.0.1002","kernel_version":"6.8","score":11489.886,"score_breakdown":{"a":[1]},"note":null,"status":"active","observed_at":"2025-01-02T03:04:05.678901"}`
	spareCoresHeader = "observed_at,vendor_id,server_id,benchmark_id,config,framework_version,kernel_version,score,score_breakdown,note,status\n"
	spareCoresRow    = `2025-01-02 03:04:05.678901,gcp,n4-standard-8,passmark:cpu_mark,{},11.0.1002,6.8,11489.886,"{""a"": [1, 2]}","a ""note"", quoted",ACTIVE`
)

var spareCoresSample = sample.Sample{
	InstanceType: "n4-standard-8", Benchmark: "passmark:cpu_mark", Version: "11.0.1002", Score: 11489.886, VCPUs: 8, Threads: 8,
	Machine: "gcp/n4-standard-8 2025-01-02", Source: "published", Time: time.Date(2025, 1, 2, 3, 4, 5, 678901000, time.UTC),
}

func TestSparecores(t *testing.T) {
	t.Run("JSON and CSV are equivalent", jsonAndCSVAreEquivalent)
	t.Run("reports invalid elements of an array", reportsInvalidElementsOfAnArray)
	t.Run("rejects feeds that cannot be read", rejectsFeedsThatCannotBeRead)
	t.Run("requires as many values as columns", requiresAsManyValuesAsColumns)
}

func jsonAndCSVAreEquivalent(t *testing.T) {
	for name, text := range map[string]string{
		"newline JSON": goodSpareCores,
		"array":        "\n\n[\n" + goodSpareCores + "\n]\n",
		"pretty array": "[" + strings.NewReplacer(`",`, "\",\n  ", "{", "{\n").Replace(goodSpareCores) + "]",
		"CSV":          spareCoresHeader + spareCoresRow,
	} {
		r := read(t, SpareCores, text, options())
		t.Run(name, func(t *testing.T) { wantSamples(t, r.Samples, spareCoresSample) })
	}
}

func TestSpareCoresRows(t *testing.T) {
	cut := func(pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(goodSpareCores, pairs[i]) {
				t.Fatalf("%q is not in the row", pairs[i])
			}
		}
		return strings.NewReplacer(pairs...).Replace(goodSpareCores)
	}
	const mark, config = "passmark:cpu_mark", `"config":{}`
	with := func(change func(*sample.Sample)) *sample.Sample { s := spareCoresSample; change(&s); return &s }
	named := func(name string) *sample.Sample { return with(func(s *sample.Sample) { s.Benchmark = name }) }
	for _, tc := range []struct {
		name, row string
		want      *sample.Sample
		field     string // Of the fault; "-" if the row is skipped.
		reason    string
	}{
		{name: "the server's own name", row: cut(`"server_id":"n4-standard-8"`, `"server_id":"4711","api_reference":"n4-standard-8"`),
			want: with(func(s *sample.Sample) { s.Machine = "gcp/4711 2025-01-02" })},
		{name: "a column of vCPUs", row: cut("n4-standard-8", "m7i.large", `"status"`, `"vcpus":2,"status"`),
			want: with(func(s *sample.Sample) {
				s.InstanceType, s.Machine, s.VCPUs, s.Threads = "m7i.large", "gcp/m7i.large 2025-01-02", 2, 2
			})},
		{name: "an older row has the version in config", row: cut(`"framework_version":"11.0.1002",`, "", config, `"config":{"framework_version":"11.0.1002"}`), want: &spareCoresSample},
		{name: "config as text", row: cut(config, `"config":"{}"`), want: &spareCoresSample},
		{name: "no config", row: cut(config, `"config":null`), want: &spareCoresSample},
		{name: "no status", row: cut(`"status":"active",`, ""), want: &spareCoresSample},
		{name: "a missing time is now", row: cut("2025-01-02T03:04:05.678901", ""), want: with(func(s *sample.Sample) { s.Time, s.Machine = now, "gcp/n4-standard-8" })},
		{name: "a zone", row: cut("2025-01-02T03:04:05.678901", "2025-01-02T05:04:05.678901+02:00"), want: &spareCoresSample},
		{name: "all cores", row: cut(mark, "geekbench:score", config, `"config":{"cores":"Multi-Core Performance"}`), want: named("geekbench:score")},
		{name: "as many cores as the machine has", row: cut(mark, "stress_ng:div16", config, `"config":{"cores":8}`), want: named("stress_ng:div16")},
		{name: "config is part of the name, by key", row: cut(mark, "openssl", config, `"config":{"block_size":16384.0,"algo":"AES-256-CBC"}`), want: named("openssl algo:AES-256-CBC block_size:16384")},
		{name: "null in config is ignored", row: cut(mark, "compression_text:compress", config, `"config":{"algo":"gzip","compression_level":null,"threads":8}`), want: named("compression_text:compress algo:gzip")},

		{name: "not active", row: cut(`"active"`, `"inactive"`), field: "-"},
		{name: "single core", row: cut(mark, "geekbench:score", config, `"config":{"cores":"Single-Core Performance"}`), field: "-"},
		{name: "one of several cores", row: cut(mark, "stress_ng:cpu_all", config, `"config":{"cores":1}`), field: "-"},
		{name: "some of the cores", row: cut(mark, "stress_ng:div16", config, `"config":{"cores":"4"}`), field: "-"},
		{name: "more threads than cores", row: cut(mark, "compression_text:compress", config, `"config":{"threads":16}`), field: "-"},
		{name: "0 threads mean one", row: cut(mark, "compression_text:compress", config, `"config":{"threads":0}`), field: "-"},
		{name: "cores and threads that differ", row: cut(mark, "compression_text:compress", config, `"config":{"cores":4,"threads":8}`), field: "-"},
		{name: "a single-threaded benchmark by its name", row: cut(mark, "passmark:cpu_single_threaded_test"), field: "-"},
		{name: "less is better", row: cut(mark, "passmark:memory_latency"), field: "-"},
		{name: "a ratio of sizes", row: cut(mark, "compression_text:ratio"), field: "-"},
		{name: "single core with an unknown number of vCPUs", row: cut("n4-standard-8", "m7i.large", config, `"config":{"cores":"Single-Core"}`, mark, "geekbench:score"), field: "-"},
		{name: "an unknown benchmark", row: cut(mark, "vllm:time_to_first_token"), field: "-"},

		{name: "no benchmark", row: cut(mark, ""), field: "benchmark_id", reason: "must be set"},
		{name: "no server", row: cut("n4-standard-8", ""), field: "server_id", reason: "must be set"},
		{name: "vCPUs are unknown", row: cut("n4-standard-8", "m7i.large"), field: "vcpus", reason: "add a column"},
		{name: "a fraction of a vCPU", row: cut(`"status"`, `"vcpus":0.5,"status"`), field: "vcpus", reason: "whole number"},
		{name: "no score", row: cut("11489.886", "null"), field: "score", reason: "must be set"},
		{name: "a score of 0", row: cut("11489.886", "0"), field: "score", reason: "above 0"},
		{name: "config is not an object", row: cut(config, `"config":[1]`), field: "config", reason: "must be a"},
		{name: "a duplicate key in config", row: cut(config, `"config":{"a":1,"a":2}`), field: "config.a", reason: "is set twice"},
		{name: "an invalid time", row: cut("2025-01-02T", "yesterday "), field: "observed_at", reason: "must be a time"},
		{name: "in the future", row: cut("2025-", "2027-"), field: "observed_at", reason: "future"},
		{name: "a version that is too long", row: cut("11.0.1002", strings.Repeat("1", 65)), field: "framework_version", reason: "at most 64"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := read(t, SpareCores, "[\n"+tc.row+"]", options())
			switch {
			case tc.want != nil:
				wantSamples(t, r.Samples, *tc.want)
			case tc.field == "-":
				if r.Skipped != 1 || r.Rows != 1 {
					t.Errorf("got %+v, want it skipped", r)
				}
			default:
				wantFault(t, r, 2, tc.field, tc.reason)
			}
		})
	}
}

func reportsInvalidElementsOfAnArray(t *testing.T) {
	text := "[\n" + goodSpareCores + ",\n  {\"score\": x},\n5, \"a,]\\\"\", null, [[1], {}],\n" + goodSpareCores + ",\n{" + strings.Repeat(" ", maxRow) + "}]"
	r := read(t, SpareCores, text, options())
	var lines []int
	for _, f := range r.Faults {
		lines = append(lines, f.Line)
	}
	if want := []int{3, 4, 4, 4, 4, 6}; len(r.Samples) != 2 || r.Rows != 8 || len(lines) != len(want) {
		t.Fatalf("%d samples of %d rows, faults %+v", len(r.Samples), r.Rows, r.Faults)
	} else {
		for i := range want {
			if lines[i] != want[i] {
				t.Errorf("fault %+v is not on line %d", r.Faults[i], want[i])
			}
		}
	}
}

func rejectsFeedsThatCannotBeRead(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"truncated between rows":  {"[" + goodSpareCores + ",\n", "line 2: the array is not closed"},
		"truncated in a row":      {"[\n{\"a\": \"]", "line 2: the array is not closed"},
		"content after the array": {"[]\n[]", "line 2: the array is followed by more content"},
		"missing columns":         {"vendor_id,score\n", `no column ["server_id" "benchmark_id"]`},
		"a duplicate column":      {"score,Score\n", "twice"},
		"an empty feed":           {"", "must begin with a header"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(SpareCores, strings.NewReader(tc.text), options())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func requiresAsManyValuesAsColumns(t *testing.T) {
	wantFault(t, read(t, SpareCores, spareCoresHeader+"2025-01-02,gcp", options()), 2, "", "must have 11 values like the header, not 2")
}
