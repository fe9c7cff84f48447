package feed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestSeparator(t *testing.T) {
	t.Run("reads columns that something else than commas separates", readsColumnsThatSomethingElseThanCommasSeparates)
	t.Run("reads empty columns between tabs", readsEmptyColumnsBetweenTabs)
	t.Run("reads decimal commas, but no number with two meanings", readsDecimalCommasButNoNumberWithTwoMeanings)
	t.Run("knows a measurement that another program wrote", knowsAMeasurementThatAnotherProgramWrote)
	t.Run("reads scores and servers of other programs", readsScoresAndServersOfOtherPrograms)
}

func readsColumnsThatSomethingElseThanCommasSeparates(t *testing.T) {
	separated := func(separator string) string { return strings.ReplaceAll(goodCloudCSV, ", ", separator) }
	decimals := strings.NewReplacer("16.0", "16,0", "1.66", "1,66", "\n", "\r\n")
	for name, tc := range map[string]struct {
		text string
		line int
	}{
		"semicolons":                            {separated(";"), 2},
		"semicolons and spaces":                 {separated(" ; "), 2},
		"tabs":                                  {separated("\t"), 2},
		"quotes":                                {strings.ReplaceAll(`"`+separated(`";"`), "\n", "\"\n\"") + `"`, 2},
		"as a German Excel writes CSV":          {decimals.Replace(separated(";")), 2},
		"as a German Excel writes Unicode text": {decimals.Replace(separated("\t")), 2},
		"named semicolons":                      {"sep=;\r\n" + separated(";"), 3},
		"named tabs":                            {"SEP=\t\n" + separated("\t"), 3},
		"named commas":                          {"\"sep=,\"\n" + separated(","), 3},
	} {
		r := read(t, CloudCSV, tc.text, tableOptions(CloudCSV))
		wantSamples(t, r.Samples, cloudSample)
		if r.Bad != 0 || !slices.Equal(r.Lines, []int{tc.line}) {
			t.Errorf("%s: %+v", name, r)
		}
		head := []byte(tc.text)
		if found, ok := Detect(head); found != CloudCSV || !ok || string(head) != tc.text {
			t.Errorf("%s: detected as %q from %q", name, found, head)
		}
	}
}

func readsEmptyColumnsBetweenTabs(t *testing.T) {
	r := read(t, CloudCSV, "CPU\tVM Size\tAvg Score\tvCPUs\t#Runs\r\n\tn4-standard-8\t5\t\t\r\n\t\t\t\t\r\n", tableOptions(CloudCSV))
	wantSamples(t, r.Samples, sample.Sample{
		InstanceType: "n4-standard-8", Benchmark: "coremark", Score: 5, VCPUs: 8, Threads: 8, Machine: "n4-standard-8///", Source: "published", Time: now,
	})
	if r.Rows != 1 {
		t.Errorf("%+v", r)
	}
}

func readsDecimalCommasButNoNumberWithTwoMeanings(t *testing.T) {
	for _, tc := range []struct {
		separator, text string
		score           float64
		reason          string
	}{
		{";", "177656", 177656, ""},
		{";", "1,5", 1.5, ""},
		{"\t", "1,5", 1.5, ""},
		{";", "1.5", 1.5, ""},
		{";", "0,123", 0.123, ""},
		{";", "0.123", 0.123, ""},
		{";", "177656,125", 177656.125, ""},
		{";", "177656.125", 177656.125, ""},
		{";", "1.234,5", 1234.5, ""},
		{";", "1,234.5", 1234.5, ""},
		{";", "1.234.567", 1234567, ""},
		{";", "1,234,567", 1234567, ""},
		{";", "1,78E+05", 178000, ""},
		{";", "177,656", 0, `"177,656" means 177656 or 177.656: write 177656 or 177.6560`},
		{"\t", "177,656", 0, `"177,656" means 177656 or 177.656: write 177656 or 177.6560`},
		{";", "177.656", 0, `"177.656" means 177656 or 177.656: write 177656 or 177.6560`},
		{";", "12,34,5", 0, `must be a number above 0, not "12,34,5"`},
		{";", "1.2.3", 0, `must be a number above 0, not "1.2.3"`},
		// English separates columns with commas, and so do its numbers with thousands.
		{",", `"177,656"`, 177656, ""},
		{",", "177.656", 177.656, ""},
		{",", `"1,5"`, 0, `must be a number above 0, not "1,5"`},
	} {
		text := "VM Size" + tc.separator + "Avg Score\nn4-standard-8" + tc.separator + tc.text
		r := read(t, CloudCSV, text, tableOptions(CloudCSV))
		if tc.reason != "" {
			wantFault(t, r, 2, "Avg Score", tc.reason)
		} else if len(r.Samples) != 1 || r.Samples[0].Score != tc.score {
			t.Errorf("%q is read as %+v, want %v", text, r, tc.score)
		}
	}
	r := read(t, CloudCSV, "VM Size;Avg Score;#Runs\nn4-standard-8;5;1.234", tableOptions(CloudCSV))
	wantFault(t, r, 2, "#Runs", "means 1234 or 1.234")
}

func knowsAMeasurementThatAnotherProgramWrote(t *testing.T) {
	const text = "VM Size,Memory(GiB),Avg Score,StdDev,#Runs\nn4-standard-8,7.5,177656.5,100.5,140\n"
	saved := strings.NewReplacer(",", ";", ".", ",").Replace(text)
	published, again := read(t, CloudCSV, text, tableOptions(CloudCSV)).Samples, read(t, CloudCSV, saved, tableOptions(CloudCSV)).Samples
	if len(published) != 1 || !slices.Equal(published, again) {
		t.Errorf("%+v, but saved again %+v", published, again)
	}
}

func readsScoresAndServersOfOtherPrograms(t *testing.T) {
	want := read(t, SpareCores, spareCoresHeader+spareCoresRow, options()).Samples
	for _, separator := range []string{";", "\t"} {
		text := reseparated(t, spareCoresHeader+spareCoresRow, separator)
		if found, ok := Detect([]byte(text)); found != SpareCores || !ok {
			t.Errorf("%q is detected as %q", text, found)
		}
		if r := read(t, SpareCores, text, options()); len(want) != 1 || !slices.Equal(r.Samples, want) {
			t.Errorf("%q is read as %+v, want %+v", text, r, want)
		}
		servers, err := ReadServers(strings.NewReader(strings.Join([]string{"vendor_id", "server_id", "vcpus"}, separator) + "\n" + strings.Join([]string{"gcp", "1750003", "8,0"}, separator)))
		if s := servers[serverKey{"gcp", "1750003"}]; err != nil || s.VCPUs != 8 {
			t.Errorf("servers %v, error %v", servers, err)
		}
	}
}

// reseparated returns CSV with another separator.
func reseparated(t *testing.T, text, separator string) string {
	t.Helper()
	rows := newCSVLines()
	var out strings.Builder
	for line := range strings.Lines(text) {
		values, fault := rows.split([]byte(strings.TrimSuffix(line, "\n")))
		if fault != nil {
			t.Fatal(fault)
		}
		for i, value := range values {
			if i > 0 {
				out.WriteString(separator)
			}
			fmt.Fprintf(&out, `"%s"`, strings.ReplaceAll(value, `"`, `""`))
		}
		out.WriteString("\n")
	}
	return out.String()
}
