package feed

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

const goodSample = `{"id":"a1","nodeType":"n4","instanceType":"n4-standard-8","cpuModel":"Intel-6-207","benchmark":"bench-node:json","version":"1","score":5000,"unit":"MB/s","vcpus":8,"threads":8,"singleThread":900,"runs":5,"machine":"node-1","source":"agent","time":"2026-01-02T03:04:05Z"}`

var wholeSample = sample.Sample{
	ID: "a1", NodeType: "n4", InstanceType: "n4-standard-8", CPUModel: "Intel-6-207", Benchmark: "bench-node:json", Version: "1",
	Score: 5000, Unit: "MB/s", VCPUs: 8, Threads: 8, SingleThread: 900, Runs: 5, Machine: "node-1", Source: "agent",
	Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
}

func TestSamples(t *testing.T) {
	t.Run("reads samples unchanged", readsSamplesUnchanged)
	t.Run("a sample without a source belongs to the feed", aSampleWithoutASourceBelongsToTheFeed)
}

func readsSamplesUnchanged(t *testing.T) {
	text, err := json.Marshal(wholeSample)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(text), goodSample} {
		if got := read(t, Samples, text, options()).Samples; len(got) != 1 || got[0] != wholeSample {
			t.Errorf("got %+v, want %+v", got, wholeSample)
		}
	}
}

func aSampleWithoutASourceBelongsToTheFeed(t *testing.T) {
	r := read(t, Samples, strings.Replace(goodSample, `"source":"agent",`, "", 1), options())
	if len(r.Samples) != 1 || r.Samples[0].Source != "published" {
		t.Errorf("got %+v", r)
	}
}

func TestBadSamples(t *testing.T) {
	for _, tc := range []struct{ name, old, replacement, field, reason string }{
		{"an unknown key", `"id"`, `"ID":"b","id"`, "ID", "is not a known key"},
		{"a duplicate key", `"id"`, `"id":"b","id"`, "id", "is set twice"},
		{"text for a number", "5000", `"5000"`, "score", "must be a number, not a string"},
		{"infinite", "5000", "1e999", "score", "1e999"},
		{"negative", "5000", "-5000", "score", "above 0"},
		{"a huge number", `"vcpus":8`, `"vcpus":99999999999999999999`, "vcpus", "99999999999999999999"},
		{"an invalid time", "2026-01-02T03:04:05Z", "yesterday", "time", "yesterday"},
		{"not on all vCPUs", `"threads":8`, `"threads":4`, "threads", "only runs on all vCPUs"},
		{"not an object", goodSample, "[]", "", "must be a"},
		{"null", goodSample, "null", "id", "must be set"},
		{"not JSON", goodSample, "{'id': 1}", "", "is not JSON"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			row := strings.Replace(goodSample, tc.old, tc.replacement, 1)
			if row == goodSample {
				t.Fatal("the row did not change")
			}
			wantFault(t, read(t, Samples, row, options()), 1, tc.field, tc.reason)
		})
	}
}
