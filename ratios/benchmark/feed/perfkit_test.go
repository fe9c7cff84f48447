package feed

import (
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// quotedPerfKit is a published line, abridged; goodPerfKit has the parts that it
// omits.
const (
	quotedPerfKit = `{"metric":"Coremark Score","value":160665.153736,"unit":"","test":"coremark","labels":"|parallelism_method:SOCKET|,|thread_count:8|"}`
	goodPerfKit   = `{"metric":"Coremark Score","value":160665.153736,"unit":"","timestamp":1600000000.5,"test":"coremark","product_name":"PerfKitBenchmarker","official":false,"owner":"me","run_uri":"c0ffee01","sample_uri":"5f8f1b9e-7f11-4d2d","labels":"|parallelism_method:SOCKET|,|thread_count:8|,|machine_type:n2d-standard-8|,|num_cpus:8|,|cpu_version:AMD EPYC 7B12|,|image:a:b|"}`
)

var perfKitSample = sample.Sample{
	InstanceType: "n2d-standard-8", CPUModel: "AMD-EPYC-7B12", Benchmark: "coremark", Score: 160665.153736,
	VCPUs: 8, Threads: 8, Machine: "c0ffee01/n2d-standard-8", Source: "published", Time: time.Unix(1600000000, 5e8).UTC(),
}

func TestPerfkit(t *testing.T) {
	t.Run("labels and metadata are equivalent", labelsAndMetadataAreEquivalent)
	t.Run("uses the vCPUs of the feed", usesTheVCPUsOfTheFeed)
}

func labelsAndMetadataAreEquivalent(t *testing.T) {
	labels := goodPerfKit[strings.Index(goodPerfKit, `"labels"`):]
	metadata := `"metadata":{"thread_count":8,"machine_type":"n2d-standard-8","num_cpus":8,"cpu_version":"AMD EPYC 7B12","x":null,"y":[1]}}`
	for _, text := range []string{goodPerfKit, strings.Replace(goodPerfKit, labels, metadata, 1)} {
		r := read(t, PerfKit, text, options())
		wantSamples(t, r.Samples, perfKitSample)
	}
}

func TestPerfKitRows(t *testing.T) {
	good, cut := perfKitSample, func(s, old, replacement string) string {
		if !strings.Contains(s, old) {
			t.Fatalf("%q is not in the row", old)
		}
		return strings.Replace(s, old, replacement, 1)
	}
	with := func(change func(*sample.Sample)) *sample.Sample { s := good; change(&s); return &s }
	for _, tc := range []struct {
		name, row string
		want      *sample.Sample
		skipped   Reason
		field     string // Of the fault.
		reason    string
	}{
		{name: "vCPUs from the name of the instance type", row: cut(goodPerfKit, "|num_cpus:8|,", ""), want: &good},
		{name: "CoreMark without thread_count ran on all vCPUs", row: cut(goodPerfKit, "|thread_count:8|,", ""), want: &good},
		{name: "a missing time is now", row: cut(goodPerfKit, `"timestamp":1600000000.5,`, ""), want: with(func(s *sample.Sample) { s.Time = now })},
		{name: "without a run, all rows may be from one machine", row: cut(goodPerfKit, `"run_uri":"c0ffee01",`, ""), want: with(func(s *sample.Sample) { s.Machine = "n2d-standard-8" })},
		{name: "a unit", row: cut(goodPerfKit, `"unit":""`, `"unit":"iterations/s"`), want: with(func(s *sample.Sample) { s.Unit = "iterations/s" })},
		{name: "the duration of the run", row: `{"metric":"End to End Runtime","value":289.4,"unit":"seconds","test":"coremark","labels":""}`, skipped: UnknownBenchmark},
		{name: "not on all vCPUs", row: cut(goodPerfKit, "thread_count:8", "thread_count:4"), skipped: NotAllThreads},
		{name: "one thread alone", row: cut(goodPerfKit, "thread_count:8", "thread_count:1"), skipped: Incomplete},
		{name: "threads that are not a number", row: cut(goodPerfKit, "thread_count:8", "thread_count:many"), field: "thread_count", reason: `not "many"`},
		{name: "the published line does not name a machine", row: quotedPerfKit, field: "machine_type", reason: "must be in labels"},
		{name: "vCPUs are unknown", row: cut(cut(goodPerfKit, "|num_cpus:8|,", ""), "n2d-standard-8", "cx22"), field: "num_cpus", reason: "is not known for \"cx22\": add a column, or name the type in vcpus of the feed (--vcpus)"},
		{name: "too many vCPUs", row: cut(goodPerfKit, "num_cpus:8", "num_cpus:99999999999999999999"), field: "num_cpus", reason: "whole number"},
		{name: "an instance type that is too long", row: cut(goodPerfKit, "n2d-standard-8", strings.Repeat("5", 200)), field: "machine_type", reason: "at most 128"},
		{name: "no metric", row: cut(goodPerfKit, "Coremark Score", ""), field: "metric", reason: "must be set"},
		{name: "no value", row: cut(goodPerfKit, "160665.153736", "null"), field: "value", reason: "must be set"},
		{name: "value is text", row: cut(goodPerfKit, "160665.153736", `"fast"`), field: "value", reason: `not "fast"`},
		{name: "value is NaN", row: cut(goodPerfKit, "160665.153736", `"NaN"`), field: "value", reason: "above 0"},
		{name: "value is infinite", row: cut(goodPerfKit, "160665.153736", `1e999`), field: "value", reason: "1e999"},
		{name: "value is negative", row: cut(goodPerfKit, "160665.153736", `-1`), field: "value", reason: "above 0"},
		{name: "value is an object", row: cut(goodPerfKit, "160665.153736", `{"a":1}`), field: "value", reason: "above 0"},
		{name: "in the future", row: cut(goodPerfKit, "1600000000.5", "4e9"), field: "timestamp", reason: "future"},
		{name: "an invalid time", row: cut(goodPerfKit, "1600000000.5", "1e300"), field: "timestamp", reason: "seconds since 1970"},
		{name: "labels without bars", row: cut(goodPerfKit, `"|parallelism`, `"parallelism`), field: "labels", reason: "must have the form |key:value|"},
		{name: "a duplicate label", row: cut(goodPerfKit, `|num_cpus:8|`, `|num_cpus:8|,|num_cpus:4|`), field: "labels", reason: "each key once"},
		{name: "metadata is not an object", row: cut(goodPerfKit, `"labels"`, `"metadata":3,"labels"`), field: "metadata", reason: "must be"},
		{name: "a duplicate key in metadata", row: cut(goodPerfKit, `"labels"`, `"metadata":{"a":1,"a":2},"labels"`), field: "metadata.a", reason: "is set twice"},
		{name: "a duplicate key", row: cut(goodPerfKit, `"unit":""`, `"unit":"","unit":""`), field: "unit", reason: "is set twice"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := read(t, PerfKit, "\n"+tc.row, options())
			switch {
			case tc.want != nil:
				wantSamples(t, r.Samples, *tc.want)
			case tc.skipped != "":
				if r.Skipped != 1 || r.Rows != 1 || r.Reasons[tc.skipped] != 1 {
					t.Errorf("got %+v, want it skipped", r)
				}
			default:
				wantFault(t, r, 2, tc.field, tc.reason)
			}
		})
	}
}

func usesTheVCPUsOfTheFeed(t *testing.T) {
	o := options()
	o.VCPUs = map[string]int{"cx42": 8, "n2d-standard-8": 2}
	row := strings.Replace(strings.Replace(goodPerfKit, "|num_cpus:8|,", "", 1), "n2d-standard-8", "cx42", 1)
	want := perfKitSample
	want.InstanceType, want.Machine = "cx42", "c0ffee01/cx42"
	// The row takes precedence.
	wantSamples(t, read(t, PerfKit, row+"\n"+goodPerfKit, o).Samples, want, perfKitSample)
}
