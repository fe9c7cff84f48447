package feed

import (
	"bytes"
	"slices"
	"testing"
	"unicode/utf8"
)

func FuzzPerfKit(f *testing.F) {
	fuzz(f, PerfKit, goodPerfKit, quotedPerfKit+"\r\n"+goodPerfKit, `{"metric":"x","test":"y","metadata":{"thread_count":"2","machine_type":"c3-standard-2"},"value":"1,000"}`)
}

func FuzzSpareCores(f *testing.F) {
	fuzz(f, SpareCores, goodSpareCores, "["+goodSpareCores+",\n"+goodSpareCores+"]", spareCoresHeader+spareCoresRow,
		`[{"benchmark_id":"openssl","config":"{\"a\":1e9,\"threads\":8}","server_id":"c3-standard-8","score":1}]`)
}

func FuzzCloudCSV(f *testing.F) {
	fuzz(f, CloudCSV, goodCloudCSV, "sep=;\nVM Size;Avg Score\nn4-standard-2;1,5\nn4-standard-4;1,500\n", "\xff\xfea\x00\t\x00", "avg score,vm size\n\"1,000\",n4-standard-2\n\n\"x", "# t\n|VM Size|Avg Score|\n|:-|-:|\n|n4-standard-2|1,000|\n|x|")
}

func FuzzDump(f *testing.F) {
	fuzz(f, SpareCores, spareCoresDump, "CREATE TABLE benchmark_score (a, b);\nINSERT INTO benchmark_score VALUES(replace('a','\\n',char(10)),NULL);")
}

func FuzzGeekbench(f *testing.F) { fuzz(f, Geekbench, geekbenchExport) }

func FuzzPhoronix(f *testing.F) {
	fuzz(f, Phoronix, phoronixExport, `{"results":{"a":{"identifier":"pts/stockfish","results":{"x":{},"y":{}}}}}`)
}

func FuzzSamples(f *testing.F) { fuzz(f, Samples, goodSample, "\uFEFF"+goodSample+"\n{}\n") }

// fuzz looks for a feed that is counted incorrectly, or whose samples later stages cannot
// process.
func fuzz(f *testing.F, format Format, seeds ...string) {
	for _, seed := range append(seeds, "", "\n", "\x00", "[", "[{}]", "{}\n[]", "a,b\n1", "NaN", `{"a":1e999,"a":{}}`) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		Detect(text)
		o := tableOptions(format)
		r, err := Read(format, bytes.NewReader(text), o)
		if err != nil {
			if err.Error() == "" || r.Rows != 0 || r.Samples != nil {
				t.Errorf("error %q with %+v", err, r)
			}
			return
		}
		// A sample or a fault may be about several rows.
		if used := r.Rows - r.Skipped - r.Bad; used < len(r.Samples) || (used > 0) != (len(r.Samples) > 0) || len(r.Faults) > min(r.Bad, maxFaults) || (r.Bad > 0) != (len(r.Faults) > 0) {
			t.Errorf("%d rows: %d samples, %d skipped, %d bad, %d faults", r.Rows, len(r.Samples), r.Skipped, r.Bad, len(r.Faults))
		}
		for _, s := range r.Samples {
			if faults := s.Validate(o.Now); len(faults) > 0 {
				t.Errorf("%+v: %v", s, faults)
			}
			if !utf8.ValidString(s.ID + s.InstanceType + s.Version + s.Unit + s.Machine + s.Source) {
				t.Errorf("%+v is not UTF-8", s)
			}
		}
		lines := 1 + bytes.Count(text, []byte("\n"))
		for _, fault := range r.Faults {
			if fault.Line < 1 || fault.Line > lines || fault.Reason == "" {
				t.Errorf("fault %+v of %d lines", fault, lines)
			}
		}
		if again, err := Read(format, bytes.NewReader(text), o); err != nil || !slices.Equal(again.Samples, r.Samples) {
			t.Errorf("read again: %+v, %v", again, err)
		}
	})
}
