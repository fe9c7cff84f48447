package feed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

const reference = "docs/reference/measured-ratios.md"

// withExample are the formats with an example. Documents are too long for one.
var withExample = []Format{PerfKit, SpareCores, CloudCSV, Samples}

// example returns the example of a format, and its language.
func example(t *testing.T, format Format) (text, language string) {
	t.Helper()
	files, err := filepath.Glob("testdata/reference/" + string(format) + ".*")
	if err != nil || len(files) != 1 {
		t.Fatalf("the examples of %s are %v, %v", format, files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(content), strings.TrimPrefix(filepath.Ext(files[0]), ".")
}

func TestReference(t *testing.T) {
	t.Run("matches the code", matchesTheCode)
	t.Run("reads the examples of the reference", readsTheExamplesOfTheReference)
}

func matchesTheCode(t *testing.T) {
	described := docpage.Comments(t, "feed.go")
	if len(described) != len(Formats) {
		t.Fatalf("%d formats are described", len(described))
	}
	formats := make([][]string, len(Formats))
	parts := map[string]string{}
	for i, format := range Formats {
		formats[i] = []string{"`" + string(format) + "`", described[i].Text}
	}
	for _, format := range withExample {
		text, language := example(t, format)
		parts["example of "+string(format)] = "```" + language + "\n" + text + "```\n"
	}
	parts["formats"] = docpage.Table([]string{"Format", "Content"}, formats...)
	parts["limits of feeds"] = docpage.Table([]string{"Of", "Limit"},
		[]string{"a feed, as it is sent", "64 MiB"},
		[]string{"a feed, decompressed", fmt.Sprintf("%d GiB, with %d MiB of memory for a block of xz", maxText>>30, maxDictionary>>20)},
		[]string{"a document of `geekbench` or `phoronix`", fmt.Sprintf("%d MiB", maxDocument>>20)},
		[]string{"a line", fmt.Sprintf("%d MiB, and %d bytes for a name in it", maxRow>>20, maxName)},
		[]string{"samples that are kept of a feed", fmt.Sprintf("%s, and %d of an instance type, CPU model, benchmark and version", docpage.Count(maxSamples), maxPerKey)},
	)
	docpage.Generated(t, reference, parts)
}

func readsTheExamplesOfTheReference(t *testing.T) {
	options := Options{Source: "reference", Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}
	for _, format := range withExample {
		text, _ := example(t, format)
		if found, _ := Detect([]byte(text)); found != format {
			t.Errorf("the example of %s is detected as %q", format, found)
		}
		if options.Benchmark = ""; format == CloudCSV {
			options.Benchmark = "coremark"
		}
		r, err := Read(format, strings.NewReader(text), options)
		if err != nil || r.Rows != 1 || len(r.Samples) != 1 || r.Samples[0].VCPUs != 8 {
			t.Errorf("%s: %+v, %v", format, r, err)
		}
	}
}
