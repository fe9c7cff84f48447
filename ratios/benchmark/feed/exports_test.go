package feed

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
)

// geekbenchExport has the fields that Geekbench exports, abridged, with equal scores.
var geekbenchExport = func() string {
	of, _ := suite.Find("geekbench:clang", func(string) string { return "" })
	var workloads []string
	for _, test := range of.Tests {
		name := strings.ReplaceAll(strings.TrimPrefix(test.Name, "geekbench:"), "_", " ")
		workloads = append(workloads, fmt.Sprintf(`{"name":%q,"score":%%d,"runtime":1.5}`, name))
	}
	section := func(name string, score int) string {
		return fmt.Sprintf(`{"name":%q,"score":%d,"workloads":[%s,{"name":"Object Detection","score":9999}]}`, name, score, strings.ReplaceAll(strings.Join(workloads, ","), "%d", fmt.Sprint(score)))
	}
	return `{"score":1700,"multicore_score":6800,"version":"Geekbench 6.4.0 Build 604","metrics":[` +
		`{"id":3,"name":"Model","value":"Amazon EC2 m7i.2xlarge"},{"id":4,"name":"Processor","value":"Intel Xeon Platinum 8488C"},` +
		`{"id":5,"name":"Topology","value":"1 Processor, 4 Cores, 8 Threads"}],"sections":[` + section("Single-Core", 1700) + "," + section("Multi-Core", 6800) + "]}"
}()

// phoronixExport has the fields that phoronix-test-suite writes, abridged.
const phoronixExport = `{
    "title": "two types", "last_modified": "2026-01-02 03:04:05",
    "systems": {
        "n2d-standard-8": {"identifier": "n2d-standard-8", "hardware": {"Processor": "AMD EPYC 7B12 (4 Cores / 8 Threads)", "Memory": "32GB"}, "timestamp": "2026-01-02 03:04:05"},
        "t2d-standard-8": {"identifier": "t2d-standard-8", "hardware": {"Processor": "AMD EPYC 7B13 @ 2.45GHz (8 Cores)"}, "timestamp": "2026-01-02 03:04:05"}
    },
    "results": {
        "hash1": {"identifier": "pts\/build-linux-kernel-1.16.0", "app_version": "6.8", "description": "Build: defconfig", "scale": "Seconds", "proportion": "LIB",
            "results": {"n2d-standard-8": {"value": 250, "raw_values": [249, 251]}, "t2d-standard-8": {"value": 125}}},
        "hash2": {"identifier": "pts\/compress-7zip-1.11.0", "app_version": "24.05", "description": "Test: Compression Rating", "scale": "MIPS", "proportion": "HIB",
            "results": {"n2d-standard-8": {"value": 40000}, "t2d-standard-8": {"value": "fast"}}},
        "hash3": {"identifier": "pts\/compress-7zip-1.11.0", "description": "Test: Decompression Rating", "scale": "MIPS", "proportion": "HIB", "results": {"n2d-standard-8": {"value": 1}}}
    }
}`

func TestGeekbench(t *testing.T) {
	want := sample.Sample{
		InstanceType: "m7i.2xlarge", CPUModel: "Intel-Xeon-Platinum-8488C", Benchmark: "geekbench", Version: "6",
		Score: 6800, SingleThread: 1700, VCPUs: 8, ThreadsPerCore: 2, Threads: 8, Machine: "m7i.2xlarge", Source: "published", Time: now,
	}
	t.Run("an export is one sample", func(t *testing.T) {
		r := read(t, Geekbench, geekbenchExport, options())
		wantSamples(t, r.Samples, want)
		if r.Rows != 30 || r.Reasons[NoWeight] != 2 || r.Bad != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("the user names machine types that the export does not", func(t *testing.T) {
		text := strings.Replace(geekbenchExport, "Amazon EC2 m7i.2xlarge", "Google Google Compute Engine", 1)
		if _, err := Read(Geekbench, strings.NewReader(text), options()); err == nil || !strings.Contains(err.Error(), "set instanceType of the feed (--instance-type)") {
			t.Errorf("error %v", err)
		}
		o, named := options(), want
		o.InstanceType, named.InstanceType, named.Machine = "n4-standard-8", "n4-standard-8", "n4-standard-8"
		wantSamples(t, read(t, Geekbench, text, o).Samples, named)
	})
	t.Run("a document that is not an export cannot be read", func(t *testing.T) {
		for text, want := range map[string]string{
			"{": "is not JSON: it ends early", "VM Size": "is not JSON: byte 1 is wrong",
			`{"sections":3}`: "must be an array, not", "[]": "must be an object, not an array",
		} {
			if _, err := Read(Geekbench, strings.NewReader(text), options()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", text, err, want)
			}
		}
	})
}

func TestPhoronix(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	n2d := sample.Sample{
		InstanceType: "n2d-standard-8", CPUModel: "AMD-EPYC-7B12", Benchmark: "phoronix-build-linux-kernel", Version: "6.8",
		Score: 1.0 / 250, VCPUs: 8, ThreadsPerCore: 2, Threads: 8, Machine: "n2d-standard-8", Source: "published", Time: at,
	}
	zip := n2d
	zip.Benchmark, zip.Version, zip.Score = "phoronix-compress-7zip", "24.05", 40000
	t2d := n2d
	t2d.InstanceType, t2d.Machine, t2d.CPUModel, t2d.ThreadsPerCore, t2d.Score = "t2d-standard-8", "t2d-standard-8", "AMD-EPYC-7B13", 1, 1.0/125
	r := read(t, Phoronix, phoronixExport, options())
	wantSamples(t, r.Samples, n2d, zip, t2d)
	if r.Rows != 5 || r.Reasons[UnknownBenchmark] != 1 || r.Reasons[InvalidValue] != 1 {
		t.Errorf("%+v", r)
	}
	text := `{"results":{"a":{"identifier":"pts/stockfish","results":{"x":{},"y":{}}}}}`
	for i, f := range read(t, Phoronix, text, options()).Faults {
		if want := (Fault{1, "pts/stockfish, " + []string{"x", "y"}[i] + ", value", InvalidValue, "must be set"}); f != want {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}

// TestPerfKitRun reads a run as PerfKitBenchmarker writes it.
func TestPerfKitRun(t *testing.T) {
	text, err := os.ReadFile("testdata/perfkit-run.json")
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, PerfKit, string(text), at(options(), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)))
	machine := sample.Sample{
		InstanceType: "n2d-standard-8", CPUModel: "AMD-25-1-0", VCPUs: 8, Threads: 8,
		Machine: "4f6a1c2e/n2d-standard-8", Source: "published", Time: time.Unix(1795222923, 5e8).UTC(),
	}
	coremark, spec, unix := machine, machine, machine
	coremark.Benchmark, coremark.Score, coremark.SingleThread = "coremark", 160665.15, 35012.2
	spec.Benchmark, spec.Score = "speccpu2017-int", 42.1
	unix.Benchmark, unix.Score = "unixbench", 5000
	wantSamples(t, r.Samples, coremark, spec, unix)
	if r.Bad != 0 || r.Reasons[NoWeight] != 1 || r.Reasons[UnknownBenchmark] != r.Skipped-1 {
		text, _ := json.Marshal(r.Reasons)
		t.Errorf("%+v %s", r, text)
	}
}

func at(o Options, now time.Time) Options {
	o.Now = now
	return o
}

// TestDocumentsWithEqualKeys reads documents in which one of two equal keys would be lost.
func TestDocumentsWithEqualKeys(t *testing.T) {
	for _, tc := range []struct {
		format           Format
		text, old, equal string
		want             string
	}{
		{Phoronix, phoronixExport, `"hash2"`, `"hash1"`, "results.hash1"},
		{Phoronix, phoronixExport, `"t2d-standard-8": {"value": 125}`, `"n2d-standard-8": {"value": 125}`, "results.hash1.results.n2d-standard-8"},
		{Phoronix, phoronixExport, `"value": 250`, `"value": 250, "value": 25`, "results.hash1.results.n2d-standard-8.value"},
		{Phoronix, phoronixExport, `"t2d-standard-8": {"identifier"`, `"n2d-standard-8": {"identifier"`, "systems.n2d-standard-8"},
		{Phoronix, phoronixExport, `"title": "two types"`, `"results": {}`, "results"},
		{Geekbench, geekbenchExport, `"score":1700,`, `"sections":[],`, "sections"},
		{Geekbench, geekbenchExport, `"score":9999`, `"name":"Clang"`, "sections[0].workloads["},
	} {
		text := strings.Replace(tc.text, tc.old, tc.equal, 1)
		r, err := Read(tc.format, strings.NewReader(text), options())
		if err == nil || text == tc.text || !strings.Contains(err.Error(), "\""+tc.want) || !strings.HasSuffix(err.Error(), " is set twice: rename or remove one of the two") {
			t.Errorf("%s, %s: error %v with %+v", tc.format, tc.want, err, r)
		}
	}
	// The reader ignores the title.
	read(t, Phoronix, strings.Replace(phoronixExport, `"title"`, `"title": 1, "title"`, 1), options())
}
