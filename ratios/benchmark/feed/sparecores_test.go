package feed

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ulikunitz/xz"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

const (
	goodSpareCores   = `{"vendor_id":"gcp","server_id":"n4-standard-8","benchmark_id":"redis:rps","config":{"operation":"SET","pipeline":16.0},"framework_version":"Redis server v=7.4.0 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64","kernel_version":"6.8","score":2903886.5,"score_breakdown":{"a":[1]},"note":null,"status":"active","observed_at":"2025-01-02T03:04:05.678901"}`
	spareCoresHeader = "observed_at,vendor_id,server_id,benchmark_id,config,framework_version,kernel_version,score,score_breakdown,note,status\n"
	spareCoresRow    = `2025-01-02 03:04:05.678901,gcp,n4-standard-8,redis:rps,"{""operation"":""SET"",""pipeline"":16.0}",7.4.0,6.8,2903886.5,"{""a"": [1, 2]}","a ""note"", quoted",ACTIVE`
	// spareCoresDump is what SQLite writes for the two tables, with the order of columns that
	// the publisher's tables have.
	spareCoresDump = `PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE benchmark_score (
	observed_at DATETIME NOT NULL, 
	vendor_id VARCHAR NOT NULL, 
	server_id VARCHAR NOT NULL, 
	benchmark_id VARCHAR NOT NULL, 
	config JSON NOT NULL, 
	framework_version VARCHAR, 
	score FLOAT NOT NULL, 
	note VARCHAR, 
	status VARCHAR(8) NOT NULL, 
	PRIMARY KEY (vendor_id, server_id, benchmark_id, config), 
	CONSTRAINT fk FOREIGN KEY(vendor_id, server_id) REFERENCES server (vendor_id, server_id)
);
INSERT INTO benchmark_score VALUES('2025-01-02 03:04:05.678901','gcp','1750003','redis:rps','{"operation": "SET", "pipeline": 16.0}','Redis server v=7.4.0',2903886.5,replace('it''s\na note','\n',char(10)),'ACTIVE');
CREATE TABLE server_price (a VARCHAR);
INSERT INTO server_price VALUES('(not read');
CREATE TABLE IF NOT EXISTS "server" (vendor_id VARCHAR, server_id VARCHAR, api_reference VARCHAR, vcpus INTEGER, cpu_cores INTEGER, description VARCHAR);
INSERT INTO "server" VALUES('gcp','1750003','n4-standard-8',8,4,NULL);
COMMIT;
`
)

var spareCoresSample = sample.Sample{
	InstanceType: "n4-standard-8", Benchmark: "redis", Version: "7.4", Score: 2903886.5, VCPUs: 8, Threads: 8,
	Machine: "gcp/n4-standard-8", Source: "published", Time: time.Date(2025, 1, 2, 3, 4, 5, 678901000, time.UTC),
}

func TestSparecores(t *testing.T) {
	t.Run("reads the rows of a machine as published", readsTheRowsOfAMachineAsPublished)
	t.Run("machines that no table describes are unknown", machinesThatNoTableDescribesAreUnknown)
	t.Run("a suite without one of its tests has no score", aSuiteWithoutOneOfItsTestsHasNoScore)
	t.Run("a row that is bad does not affect other suites", aRowThatIsBadDoesNotAffectOtherSuites)
	t.Run("JSON, CSV and the dump are equivalent", jsonCSVAndTheDumpAreEquivalent)
	t.Run("reports invalid elements of an array", reportsInvalidElementsOfAnArray)
	t.Run("rejects feeds that cannot be read", rejectsFeedsThatCannotBeRead)
	t.Run("requires as many values as columns", requiresAsManyValuesAsColumns)
	t.Run("the order of rows does not matter", theOrderOfRowsDoesNotMatter)
}

// published returns rows of one machine, and the table of servers that describes it.
func published(t *testing.T) (string, Options) {
	t.Helper()
	text, err := os.ReadFile("testdata/sparecores-n4-standard-8.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.Open("testdata/sparecores-servers.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = table.Close() }()
	o := options()
	if o.Servers, err = ReadServers(table); err != nil {
		t.Fatal(err)
	}
	return string(text), o
}

func readsTheRowsOfAMachineAsPublished(t *testing.T) {
	text, o := published(t)
	r := read(t, SpareCores, text, o)
	machine := sample.Sample{InstanceType: "n4-standard-8", VCPUs: 8, ThreadsPerCore: 2, Threads: 8, Machine: "gcp/1750003", Source: "published"}
	geekbench, passmark, redis := machine, machine, machine
	geekbench.Benchmark, geekbench.Version, geekbench.Score, geekbench.SingleThread = "geekbench", "6", r.Samples[0].Score, r.Samples[0].SingleThread
	passmark.Benchmark, passmark.Version, passmark.Score = "passmark", "11", r.Samples[1].Score
	redis.Benchmark, redis.Version, redis.Score = "redis", "7.4", r.Samples[2].Score
	for i, s := range []*sample.Sample{&geekbench, &passmark, &redis} {
		s.Time = r.Samples[i].Time
	}
	wantSamples(t, r.Samples, geekbench, passmark, redis)
	// The means of the fourteen tests of Geekbench with all vCPUs and with one.
	if r.Samples[0].Score < 6000 || r.Samples[0].Score > 9000 || r.Samples[0].SingleThread < 1500 || r.Samples[0].SingleThread > 2000 {
		t.Errorf("Geekbench has %v and %v", r.Samples[0].Score, r.Samples[0].SingleThread)
	}
	// 28 rows of Geekbench, 6 of PassMark and 1 of Redis.
	if accepted := r.Rows - r.Skipped - r.Bad; accepted != 35 || r.Bad != 0 || r.Skipped != r.Reasons[NoWeight] {
		t.Errorf("%d rows are accepted; %+v", accepted, r.Reasons)
	}
}

func machinesThatNoTableDescribesAreUnknown(t *testing.T) {
	text, o := published(t)
	o.Servers = nil
	r := read(t, SpareCores, text, o)
	if r.Bad != 35 || r.Reasons[UnknownMachine] != 35 || len(r.Faults) != 3 || len(r.Samples) != 0 {
		t.Errorf("%+v", r)
	}
}

func aSuiteWithoutOneOfItsTestsHasNoScore(t *testing.T) {
	text, o := published(t)
	var less strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "cpu_physics_test") && !strings.Contains(line, `clang", "config": {"cores": "single"}`) {
			less.WriteString(line)
		}
	}
	r := read(t, SpareCores, less.String(), o)
	if r.Reasons[Incomplete] != 5 || len(r.Samples) != 2 || r.Samples[0].SingleThread != 0 {
		t.Errorf("%+v", r)
	}
}

func aRowThatIsBadDoesNotAffectOtherSuites(t *testing.T) {
	text, o := published(t)
	bad := strings.Replace(goodSpareCores, "2903886.5", "0", 1)
	r := read(t, SpareCores, bad+"\n"+text, o)
	if r.Bad != 1 || r.Faults[0].Line != 1 || r.Faults[0].Code != InvalidValue || len(r.Samples) != 3 {
		t.Errorf("%+v", r)
	}
}

func theOrderOfRowsDoesNotMatter(t *testing.T) {
	text, o := published(t)
	lines := strings.SplitAfter(text, "\n")
	var reverse strings.Builder
	for i := range lines {
		reverse.WriteString(lines[len(lines)-1-i])
	}
	want := read(t, SpareCores, text, o).Samples
	got := read(t, SpareCores, reverse.String(), o).Samples
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

func xzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := xz.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func jsonCSVAndTheDumpAreEquivalent(t *testing.T) {
	joined := spareCoresSample
	joined.Machine, joined.ThreadsPerCore = "gcp/1750003", 2
	for name, tc := range map[string]struct {
		text string
		want sample.Sample
	}{
		"newline JSON":       {goodSpareCores, spareCoresSample},
		"array":              {"\n\n[\n" + goodSpareCores + "\n]\n", spareCoresSample},
		"pretty array":       {"[" + strings.NewReplacer(`",`, "\",\n  ", "{", "{\n").Replace(goodSpareCores) + "]", spareCoresSample},
		"CSV":                {spareCoresHeader + spareCoresRow, spareCoresSample},
		"compressed":         {zipped(goodSpareCores), spareCoresSample},
		"compressed twice":   {zipped(xzipped(t, goodSpareCores)), spareCoresSample},
		"dump":               {spareCoresDump, joined},
		"dump, as published": {xzipped(t, spareCoresDump), joined},
	} {
		t.Run(name, func(t *testing.T) { wantSamples(t, read(t, SpareCores, tc.text, options()).Samples, tc.want) })
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
	const id, config = "redis:rps", `"config":{"operation":"SET","pipeline":16.0}`
	const version = `"framework_version":"Redis server v=7.4.0 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64",`
	with := func(change func(*sample.Sample)) *sample.Sample { s := spareCoresSample; change(&s); return &s }
	for _, tc := range []struct {
		name, row string
		want      *sample.Sample
		skipped   Reason
		field     string // Of the fault.
		reason    string
		code      Reason
	}{
		{name: "the server's own name", row: cut(`"server_id":"n4-standard-8"`, `"server_id":"4711","api_reference":"n4-standard-8"`),
			want: with(func(s *sample.Sample) { s.Machine = "gcp/4711" })},
		{name: "an AWS type", row: cut("n4-standard-8", "m7i.large"),
			want: with(func(s *sample.Sample) {
				s.InstanceType, s.Machine, s.VCPUs, s.Threads = "m7i.large", "gcp/m7i.large", 2, 2
			})},
		{name: "a column of vCPUs", row: cut("n4-standard-8", "cx22", `"status"`, `"vcpus":2,"status"`),
			want: with(func(s *sample.Sample) { s.InstanceType, s.Machine, s.VCPUs, s.Threads = "cx22", "gcp/cx22", 2, 2 })},
		{name: "an older row has the version in config", row: cut(version, "", config, `"config":{"pipeline":16,"framework_version":"7.4.0"}`), want: &spareCoresSample},
		{name: "config as text", row: cut(config, `"config":"{\"pipeline\":\"16\"}"`), want: &spareCoresSample},
		{name: "no status", row: cut(`"status":"active",`, ""), want: &spareCoresSample},
		{name: "a missing time is now", row: cut("2025-01-02T03:04:05.678901", ""), want: with(func(s *sample.Sample) { s.Time = now })},
		{name: "a zone", row: cut("2025-01-02T03:04:05.678901", "2025-01-02T05:04:05.678901+02:00"), want: &spareCoresSample},
		{name: "all cores", row: cut(config, `"config":{"pipeline":16,"cores":"Multi-Core Performance"}`), want: &spareCoresSample},
		{name: "as many cores as the machine has", row: cut(config, `"config":{"pipeline":16,"cores":8,"threads":8.0}`), want: &spareCoresSample},

		{name: "not active", row: cut(`"active"`, `"inactive"`), skipped: Inactive},
		{name: "single core alone", row: cut(config, `"config":{"pipeline":16,"cores":"Single-Core Performance"}`), skipped: Incomplete},
		{name: "one of several cores", row: cut(config, `"config":{"pipeline":16,"cores":1}`), skipped: Incomplete},
		{name: "0 threads mean one", row: cut(config, `"config":{"pipeline":16,"threads":0}`), skipped: Incomplete},
		{name: "some of the cores", row: cut(config, `"config":{"pipeline":16,"cores":"4"}`), skipped: NotAllThreads},
		{name: "more threads than cores", row: cut(config, `"config":{"pipeline":16,"threads":16}`), skipped: NotAllThreads},
		{name: "cores and threads that differ", row: cut(config, `"config":{"pipeline":16,"cores":4,"threads":8}`), skipped: NotAllThreads},
		{name: "another variant", row: cut(config, `"config":{"pipeline":64.0}`), skipped: NoWeight},
		{name: "no config", row: cut(config, `"config":null`), skipped: NoWeight},
		{name: "accelerated by instructions", row: cut(id, "openssl"), skipped: NoWeight},
		{name: "less is better", row: cut(id, "passmark:memory_latency"), skipped: NoWeight},
		{name: "a ratio of sizes", row: cut(id, "compression_text:ratio"), skipped: NoWeight},
		{name: "an unknown benchmark", row: cut(id, "vllm:time_to_first_token"), skipped: UnknownBenchmark},

		{name: "no benchmark", row: cut(id, ""), field: "benchmark_id", reason: "must be set", code: InvalidValue},
		{name: "no server", row: cut("n4-standard-8", ""), field: "server_id", reason: "must be set", code: InvalidValue},
		{name: "vCPUs are unknown", row: cut("n4-standard-8", "cx22"), field: "vcpus", reason: "add a column", code: UnknownVCPUs},
		{name: "a machine is unknown", row: cut("n4-standard-8", "4711"), field: "api_reference", reason: "add the table of servers", code: UnknownMachine},
		{name: "a fraction of a vCPU", row: cut(`"status"`, `"vcpus":0.5,"status"`), field: "vcpus", reason: "whole number", code: InvalidValue},
		{name: "no score", row: cut("2903886.5", "null"), field: "score", reason: "must be set", code: InvalidValue},
		{name: "a score of 0", row: cut("2903886.5", "0"), field: "score", reason: "above 0", code: InvalidValue},
		{name: "an infinite score", row: cut("2903886.5", `"Inf"`), field: "score", reason: "above 0", code: InvalidValue},
		{name: "config is not an object", row: cut(config, `"config":[1]`), field: "config", reason: "must be a", code: InvalidValue},
		{name: "a duplicate key in config", row: cut(config, `"config":{"a":1,"a":2}`), field: "config.a", reason: "is set twice", code: InvalidValue},
		{name: "an invalid time", row: cut("2025-01-02T", "yesterday "), field: "observed_at", reason: "must be a time", code: InvalidValue},
		{name: "in the future", row: cut("2025-", "2027-"), field: "observed_at", reason: "future", code: InvalidValue},
		{name: "not JSON", row: `{"benchmark_id": x}`, field: "", reason: "is not JSON", code: Unreadable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := read(t, SpareCores, "[\n"+tc.row+"]", options())
			switch {
			case tc.want != nil:
				wantSamples(t, r.Samples, *tc.want)
			case tc.skipped != "":
				if r.Skipped != 1 || r.Rows != 1 || r.Reasons[tc.skipped] != 1 {
					t.Errorf("got %+v, want it skipped", r)
				}
			default:
				wantFault(t, r, 2, tc.field, tc.reason)
				if r.Faults[0].Code != tc.code || r.Reasons[tc.code] != 1 {
					t.Errorf("%+v, %v, want %s", r.Faults[0], r.Reasons, tc.code)
				}
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
	if want := fmt.Sprint([]int{3, 4, 4, 4, 4, 6}); len(r.Samples) != 1 || r.Rows != 8 || fmt.Sprint(lines) != want {
		t.Errorf("%d samples of %d rows, faults %+v on lines %v, want %s", len(r.Samples), r.Rows, r.Faults, lines, want)
	}
}

func rejectsFeedsThatCannotBeRead(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"truncated between rows":    {"[" + goodSpareCores + ",\n", "line 2: the array is not closed"},
		"truncated in a row":        {"[\n{\"a\": \"]", "line 2: the array is not closed"},
		"content after the array":   {"[]\n[]", "line 2: the array is followed by more content"},
		"missing columns":           {"vendor_id,score\n", `no column "server_id", "benchmark_id"`},
		"a duplicate column":        {"score,Score\n", "twice"},
		"an empty feed":             {"", "must begin with a header"},
		"a dump that is truncated":  {"CREATE TABLE server (\n\ta INT,", "within the definition of table server"},
		"truncated gzip":            {zipped(goodSpareCores)[:100], "the compressed content is truncated: unexpected EOF"},
		"truncated xz":              {xzipped(t, goodSpareCores)[:100], "the compressed content is truncated: unexpected EOF"},
		"xz that needs much memory": {greedy(t, xzipped(t, goodSpareCores)), "bytes of memory"},
		"a database":                {"SQLite format 3\x00...", "use its dump as SQL"},
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

func TestReadServers(t *testing.T) {
	table, err := os.Open("testdata/sparecores-servers.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = table.Close() }()
	got, err := ReadServers(table)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]Server{
		"1750003": {"n4-standard-8", 8, 2}, "1220004": {"t2a-standard-8", 8, 1}, "1000": {"f1-micro", 1, 1},
		"1765196": {"c4a-standard-8", 8, 0}, // Without cores, and said to be x86.
	} {
		if s := got[serverKey{"gcp", id}]; s != want {
			t.Errorf("%s is %+v, want %+v", id, s, want)
		}
	}
	if _, err := ReadServers(strings.NewReader(`{"a":1}`)); err == nil {
		t.Error("a table without servers is no error")
	}
}
