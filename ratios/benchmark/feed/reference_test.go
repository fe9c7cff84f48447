package feed

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

var fenced = regexp.MustCompile("(?s)\n```(?:json|csv)\n(.*?)```")

func TestReference(t *testing.T) {
	t.Run("reads the examples of the reference", readsTheExamplesOfTheReference)
	t.Run("the reference has the limits", theReferenceHasTheLimits)
}

func theReferenceHasTheLimits(t *testing.T) {
	content, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(content)), " ")
	for _, want := range []string{
		fmt.Sprintf("Up to %d,000 samples of it are kept, and up to %d of an instance type", maxSamples/1000, maxPerKey),
		fmt.Sprintf("A line can be up to %d MiB, and a name in it %d bytes", maxRow>>20, maxName),
		fmt.Sprintf("%d GiB decompressed. A block of xz may need %d MiB of memory", maxText>>30, maxDictionary>>20),
		fmt.Sprintf("documents can be up to %d MiB", maxDocument>>20),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the reference does not say %q", want)
		}
	}
}

// The reference introduces each format by its name, followed by an example.
func readsTheExamplesOfTheReference(t *testing.T) {
	content, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(content), "\n### Feeds and their formats\n")
	section, _, _ = strings.Cut(section, "\n### ")
	// Documents are too long for an example.
	rows := []Format{PerfKit, SpareCores, CloudCSV, Samples}
	if n := len(fenced.FindAllString(section, -1)); n != len(rows) {
		t.Errorf("%d examples, want one for each of %v", n, rows)
	}
	for _, format := range Formats {
		if !strings.Contains(section, "\n`"+string(format)+"`, ") {
			t.Errorf("%s is not described", format)
		}
	}
	options := Options{Source: "reference", Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}
	for _, format := range rows {
		_, rest, _ := strings.Cut(section, "\n`"+string(format)+"`, ")
		example := fenced.FindStringSubmatch(rest)
		if example == nil {
			t.Fatalf("%s has no example", format)
		}
		if found, _ := Detect([]byte(example[1])); found != format {
			t.Errorf("the example of %s is detected as %q", format, found)
		}
		if options.Benchmark = ""; format == CloudCSV {
			options.Benchmark = "coremark"
		}
		r, err := Read(format, strings.NewReader(example[1]), options)
		if err != nil || r.Rows != 1 || len(r.Samples) != 1 || r.Samples[0].VCPUs != 8 {
			t.Errorf("%s: %+v, %v", format, r, err)
		}
	}
}
