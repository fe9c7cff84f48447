package settings

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
)

var update = flag.Bool("update", false, "rewrite the tables of the reference")

const reference = "../../../docs/reference.md"

func table[T any](keys []key[T]) string {
	var b strings.Builder
	b.WriteString("| Key | Default | Values | Meaning |\n|---|---|---|---|\n")
	for _, k := range keys {
		if k.isGone() {
			continue
		}
		standard := ""
		if k.standard != "" {
			standard = "`" + k.standard + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.name, standard, k.values, k.meaning)
	}
	return b.String()
}

func suites() string {
	var b strings.Builder
	b.WriteString("| Suite | Weight | What it measures |\n|---|---|---|\n")
	for _, s := range suite.Suites {
		fmt.Fprintf(&b, "| `%s` | %v | %s |\n", s.Name, s.Weight, s.Why)
	}
	return b.String()
}

func reasons() string {
	var b strings.Builder
	b.WriteString("| Reason | The row is | Meaning |\n|---|---|---|\n")
	for _, r := range feed.Reasons {
		is := "skipped"
		if r.Bad {
			is = "invalid"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Reason, is, r.Meaning)
	}
	return b.String()
}

func TestReference(t *testing.T) {
	t.Run("the reference matches the code", theReferenceMatchesTheCode)
	t.Run("reads the example of the reference as described", readsTheExampleOfTheReferenceAsDescribed)
}

func theReferenceMatchesTheCode(t *testing.T) {
	content, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	want := string(content)
	for name, table := range map[string]string{
		"benchmark settings": table(keys), "benchmark feeds": table(feedKeys), "benchmark suites": suites(), "feed reasons": reasons(),
	} {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		before, rest, ok := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no place for the %s", reference, name)
		}
		want = before + begin + table + end + after
	}
	if *update {
		if err := os.WriteFile(reference, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(content) {
		t.Errorf("%s is out of date: run make generate", reference)
	}
}

func readsTheExampleOfTheReferenceAsDescribed(t *testing.T) {
	content, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(content), "\n### Settings of benchmarks\n")
	section, _, _ = strings.Cut(section, "\n### ")
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(examples) != 1 {
		t.Fatalf("%d examples, want 1", len(examples))
	}
	got, err := Parse(examples[0][1])
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
