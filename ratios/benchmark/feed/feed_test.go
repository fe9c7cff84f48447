package feed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// options returns options without the values that some feeds need.
func options() Options { return Options{Source: "published", Now: now} }

func read(t *testing.T, f Format, text string, o Options) Result {
	t.Helper()
	result, err := Read(f, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// wantSamples compares samples without their IDs, which only must be set.
func wantSamples(t *testing.T, got []sample.Sample, want ...sample.Sample) {
	t.Helper()
	got = slices.Clone(got)
	for i := range got {
		if got[i].ID == "" {
			t.Errorf("sample %d has no ID", i)
		}
		got[i].ID = ""
	}
	if !slices.Equal(got, want) {
		t.Errorf("samples\n%+v, want\n%+v", got, want)
	}
}

func wantFault(t *testing.T, r Result, line int, field, reason string) {
	t.Helper()
	if len(r.Samples) != 0 || r.Bad != 1 || len(r.Faults) != 1 {
		t.Fatalf("got %+v, want one fault", r)
	}
	if f := r.Faults[0]; f.Line != line || f.Field != field || !strings.Contains(f.Reason, reason) {
		t.Errorf("fault %+v, want line %d, field %q, reason %q", f, line, field, reason)
	}
}

func TestFeed(t *testing.T) {
	t.Run("an unknown format is an error", anUnknownFormatIsAnError)
	t.Run("a feed that cannot be read to its end is an error", aFeedThatCannotBeReadToItsEndIsAnError)
	t.Run("reads valid rows despite an invalid one", readsValidRowsDespiteAnInvalidOne)
	t.Run("reads text with the line endings and marks of other programs", readsTextWithTheLineEndingsAndMarksOfOtherPrograms)
	t.Run("gives the same IDs when it reads again", givesTheSameIDsWhenItReadsAgain)
	t.Run("counts all faults and reports them up to a limit", countsAllFaultsAndReportsThemUpToALimit)
	t.Run("reads only the requested benchmark", readsOnlyTheRequestedBenchmark)
	t.Run("every reason is listed once", everyReasonIsListedOnce)
	t.Run("skips rows that are too old", skipsRowsThatAreTooOld)
}

func anUnknownFormatIsAnError(t *testing.T) {
	_, err := Read("yaml", strings.NewReader(""), options())
	if err == nil || !strings.Contains(err.Error(), "perfkit") {
		t.Errorf("error %v does not name the formats", err)
	}
}

func aFeedThatCannotBeReadToItsEndIsAnError(t *testing.T) {
	broken := errors.New("connection reset")
	for f, begin := range map[Format]string{
		PerfKit: goodPerfKit, SpareCores: "[" + goodSpareCores, CloudCSV: goodCloudCSV, Samples: goodSample,
	} {
		in := iotest.DataErrReader(readerThenError{strings.NewReader(begin), broken})
		if r, err := Read(f, in, tableOptions(f)); !errors.Is(err, broken) || r.Rows != 0 {
			t.Errorf("%s: got %+v, error %v", f, r, err)
		}
	}
}

// readerThenError reads text, and then fails.
type readerThenError struct {
	text *strings.Reader
	err  error
}

func (r readerThenError) Read(p []byte) (int, error) {
	if n, _ := r.text.Read(p); n > 0 {
		return n, nil
	}
	return 0, r.err
}

// tableOptions returns options with a benchmark for the format that needs it.
func tableOptions(f Format) Options {
	o := options()
	if f == CloudCSV {
		o.Benchmark = "coremark"
	}
	return o
}

// rows has one valid row of each format, and the format's header if it has one.
var rows = []struct {
	format      Format
	header, row string
}{
	{PerfKit, "", goodPerfKit}, {SpareCores, "", goodSpareCores}, {Samples, "", goodSample},
	{SpareCores, spareCoresHeader, spareCoresRow}, {CloudCSV, cloudHeader, cloudRow},
}

func readsValidRowsDespiteAnInvalidOne(t *testing.T) {
	for _, tc := range rows {
		for name, bad := range map[string]string{
			"not a row":           `]}"`,
			"open quote":          `{"a": "`,
			"too long":            strings.Repeat("x", maxRow+1),
			"not text":            "\xff\xfe",
			"deep nesting":        strings.Repeat(`{"a":[`, 50_000),
			"an unrelated object": `{"a": 1}`,
		} {
			text := tc.header + tc.row + "\n" + bad + "\n" + tc.row + "\n"
			r := read(t, tc.format, text, tableOptions(tc.format))
			line := 1 + strings.Count(tc.header, "\n") + 1
			if len(r.Samples) != 1 || r.Rows != 3 || r.Reasons[Superseded] != 1 || r.Bad != 1 || r.Faults[0].Line != line || r.Faults[0].Reason == "" {
				t.Errorf("%s%s, %s: %d samples of %d rows, faults %+v", tc.format, tc.header, name, len(r.Samples), r.Rows, r.Faults)
			}
		}
	}
}

func readsTextWithTheLineEndingsAndMarksOfOtherPrograms(t *testing.T) {
	for _, tc := range rows {
		want := read(t, tc.format, tc.header+tc.row, tableOptions(tc.format)).Samples
		if len(want) != 1 {
			t.Fatalf("%s: %d samples", tc.format, len(want))
		}
		for name, text := range map[string]string{
			"byte order mark": "\uFEFF" + tc.header + tc.row,
			"CRLF":            strings.ReplaceAll(tc.header+tc.row, "\n", "\r\n") + "\r\n",
			"empty lines":     "\n \n" + tc.header + "\r\n\n" + tc.row + "\n\n",
		} {
			r := read(t, tc.format, text, tableOptions(tc.format))
			if !slices.Equal(r.Samples, want) || r.Rows != 1 {
				t.Errorf("%s, %s: got %+v, want %+v", tc.format, name, r, want)
			}
		}
	}
}

func givesTheSameIDsWhenItReadsAgain(t *testing.T) {
	type feed struct {
		format      Format
		header, row string
	}
	var all []feed
	for _, tc := range rows {
		all = append(all, feed{tc.format, tc.header, tc.row})
	}
	// Exports and rows without a time have the time when they are read.
	all = append(all,
		feed{Geekbench, "", geekbenchExport},
		feed{Phoronix, "", strings.ReplaceAll(phoronixExport, `"timestamp": "2026-01-02 03:04:05"`, `"timestamp": ""`)},
		feed{SpareCores, "vendor_id,server_id,benchmark_id,score\n", "gcp,n4-standard-8,coremark:coremark score,5"})
	for _, tc := range all {
		o := tableOptions(tc.format)
		o.Now = o.Now.Add(time.Second / 3) // A clock is rarely at the start of a second.
		first := read(t, tc.format, tc.header+tc.row, o).Samples[0]
		o.Now = o.Now.Add(time.Hour)
		if again := read(t, tc.format, tc.header+tc.row, o).Samples[0]; again.ID != first.ID || again.Machine != first.Machine {
			t.Errorf("%s: %+v is %+v when it is read again", tc.format, first, again)
		}
	}
	// A row may be read in the second of its own time.
	o := options()
	text := "vendor_id,server_id,benchmark_id,score,observed_at\ngcp,n4-standard-8,coremark:coremark score,5," + o.Now.Format(time.RFC3339) + "\n"
	o.Now = o.Now.Add(time.Second / 3)
	first := read(t, SpareCores, text, o).Samples[0]
	o.Now = o.Now.Add(time.Second)
	if again := read(t, SpareCores, text, o).Samples[0]; again.ID != first.ID {
		t.Errorf("%+v is %+v a second later", first, again)
	}
}

func countsAllFaultsAndReportsThemUpToALimit(t *testing.T) {
	r := read(t, Samples, strings.Repeat("{}\n", maxFaults+7), options())
	if r.Bad != maxFaults+7 || r.Rows != r.Bad || len(r.Faults) != maxFaults {
		t.Errorf("%d bad rows of %d, %d faults", r.Bad, r.Rows, len(r.Faults))
	}
}

func everyReasonIsListedOnce(t *testing.T) {
	seen := map[Reason]bool{}
	for _, r := range Reasons {
		if seen[r.Reason] || r.Meaning == "" || r.Reason.isBad() != r.Bad {
			t.Errorf("%+v", r)
		}
		seen[r.Reason] = true
	}
}

func skipsRowsThatAreTooOld(t *testing.T) {
	for _, tc := range rows {
		o := tableOptions(tc.format)
		o.MaxAge = 24 * time.Hour
		r := read(t, tc.format, tc.header+tc.row, o)
		if hasTime := tc.format != CloudCSV; hasTime != (r.Reasons[TooOld] == 1) || hasTime == (len(r.Samples) == 1) {
			t.Errorf("%s: %+v", tc.format, r)
		}
	}
}

func readsOnlyTheRequestedBenchmark(t *testing.T) {
	for f, text := range map[Format]string{PerfKit: goodPerfKit, SpareCores: goodSpareCores, Samples: goodSample} {
		o := options()
		o.Benchmark = "passmark"
		if r := read(t, f, text, o); r.Reasons[NotSelected] != 1 || len(r.Samples) != 0 {
			t.Errorf("%s: got %+v", f, r)
		}
		o.Benchmark = "passmrak"
		if _, err := Read(f, strings.NewReader(text), o); (err != nil) != (f != Samples) {
			t.Errorf("%s: error %v for a name that is not in the table", f, err)
		}
	}
}

// zipped returns text compressed with gzip.
func zipped(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text)) // A buffer takes everything.
	_ = w.Close()
	return out.String()
}

func TestDetect(t *testing.T) {
	for _, tc := range []struct {
		name, head string
		want       Format
		ok         bool
	}{
		{"PerfKit", goodPerfKit, PerfKit, true},
		{"Spare Cores, newline JSON", goodSpareCores, SpareCores, true},
		{"Spare Cores, JSON array", "[\n " + goodSpareCores + ",\n", SpareCores, true},
		{"Spare Cores, CSV", spareCoresHeader + spareCoresRow, SpareCores, true},
		{"a cloud's table", "\uFEFF" + cloudHeader, CloudCSV, true},
		{"a cloud's table in Markdown", "# Scores\n\n" + strings.Replace("|"+cloudHeader, "\n", "|\n", 1), CloudCSV, false},
		{"samples", goodSample, Samples, true},
		{"Spare Cores, dump", "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n", SpareCores, true},
		{"Spare Cores, compressed", zipped(goodSpareCores), SpareCores, true},
		{"Geekbench", geekbenchExport, Geekbench, true},
		{"Phoronix", phoronixExport, Phoronix, true},
		{"a truncated row", goodPerfKit[:40], PerfKit, true},
		{"keys of nested objects are ignored", `{"a": {"metric": 1}, "b": ["metric", "metric"], "c": "metric"`, "", false},
		{"an array of unrelated objects", `[{"metric": 1}]`, "", false},
		{"an HTML page", "<!DOCTYPE html>", "", false},
		{"nothing", "", "", false},
		{"a number", "5", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := Detect([]byte(tc.head)); got != tc.want || ok != tc.ok {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}
