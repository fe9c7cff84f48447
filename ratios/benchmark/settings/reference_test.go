package settings

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
	"github.com/workload-resizer/workload-resizer/test/docpage"
)

const reference = "docs/reference/measured-ratios.md"

// exampleFile is the example of the reference.
const exampleFile = "testdata/example.yaml"

func example(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func table[T any](keys []key[T]) string {
	var rows [][]string
	for _, k := range keys {
		if k.isGone() {
			continue
		}
		standard := ""
		if k.standard != "" {
			standard = "`" + k.standard + "`"
		}
		rows = append(rows, []string{"`" + k.name + "`", standard, k.values, k.meaning})
	}
	return docpage.Table([]string{"Key", "Default", "Values", "Meaning"}, rows...)
}

func suites() string {
	var rows [][]string
	for _, s := range suite.Suites {
		rows = append(rows, []string{"`" + s.Name + "`", fmt.Sprint(s.Weight), s.Why})
	}
	return docpage.Table([]string{"Suite", "Weight", "What it measures"}, rows...)
}

func reasons() string {
	var rows [][]string
	for _, r := range feed.Reasons {
		is := "skipped"
		if r.Bad {
			is = "invalid"
		}
		rows = append(rows, []string{"`" + string(r.Reason) + "`", is, r.Meaning})
	}
	return docpage.Table([]string{"Reason", "The row is", "Meaning"}, rows...)
}

func TestReference(t *testing.T) {
	t.Run("the reference matches the code", theReferenceMatchesTheCode)
	t.Run("reads the example of the reference as described", readsTheExampleOfTheReferenceAsDescribed)
}

func theReferenceMatchesTheCode(t *testing.T) {
	docpage.Generated(t, reference, map[string]string{
		"settings": table(keys), "feeds": table(feedKeys), "suites": suites(), "reasons of rows": reasons(),
		"example of settings": "```yaml\n" + example(t) + "```\n",
	})
}

func readsTheExampleOfTheReferenceAsDescribed(t *testing.T) {
	got, err := Parse(example(t))
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Modes = map[string]Mode{"n4": Apply, "e2@Intel-6-79": Apply, "t2d": Observe}
	want.Estimate.MinMachines = 12
	want.Estimate.Loads = map[string]float64{"*": 0.4}
	want.Estimate.Weights = suite.Weights()
	want.Estimate.Weights["coremark"] = 2
	want.Pace.DeadBand = 0.03
	want.Feeds = []fetch.Feed{
		{Name: "coremark-table", Format: feed.CloudCSV, Place: fetch.Place{URL: "https://example.com/coremark.csv"}, Interval: 6 * time.Hour, MaxAge: want.Estimate.MaxAgePublished, Benchmark: "coremark", VCPUs: map[string]int{"cx42": 8}},
		{Name: "ours", Format: feed.PerfKit, Place: fetch.Place{ConfigMap: "perfkit-results", Key: "results.json"}, Interval: time.Hour, MaxAge: want.Estimate.MaxAgePublished},
		{Name: "mounted", Format: feed.SpareCores, Place: fetch.Place{File: "/feeds/benchmark_score.csv"}, Servers: &fetch.Place{File: "/feeds/server.csv"}, Interval: time.Hour, MaxAge: want.Estimate.MaxAgePublished},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
