package feed

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestLongFeeds(t *testing.T) {
	t.Run("does not keep an endless row in memory", doesNotKeepAnEndlessRowInMemory)
	t.Run("keeps few samples of many rows", keepsFewSamplesOfManyRows)
	t.Run("reads more rows than it keeps", readsMoreRowsThanItKeeps)
}

func doesNotKeepAnEndlessRowInMemory(t *testing.T) {
	const size = 64 << 20
	for begin, f := range map[string]Format{"": PerfKit, "[{": SpareCores, spareCoresHeader: SpareCores, cloudHeader: CloudCSV} {
		in := io.MultiReader(strings.NewReader(begin), io.LimitReader(zeros{}, size))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Read(f, in, tableOptions(f))
		runtime.ReadMemStats(&after)
		if begin == "[{" {
			if err == nil {
				t.Errorf("%s: an unclosed array is read as %+v", f, r)
			}
		} else if err != nil || r.Bad != 1 || r.Faults[0].Reason != errTooLong.Reason {
			t.Errorf("%s: got %+v, error %v", f, r, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > size/4 {
			t.Errorf("%s: %d bytes were allocated for a row of %d", f, used, size)
		}
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// keepsFewSamplesOfManyRows reads a feed that would take 50 times its size if each row stayed in
// memory.
func keepsFewSamplesOfManyRows(t *testing.T) {
	const count = 60_000
	for name, tc := range map[string]struct {
		row  func(i int) string
		want int
	}{
		"the same row":          {func(int) string { return "a2-megagpu-1,1\n" }, 1},
		"one size, many scores": {func(i int) string { return fmt.Sprintf("n4-standard-2,%d\n", i+1) }, maxPerKey},
		"many sizes":            {func(i int) string { return fmt.Sprintf("n4-standard-2-x%d,1\n", i) }, maxSamples},
	} {
		var text strings.Builder
		text.WriteString("VM Size,Avg Score\n")
		for i := range count {
			text.WriteString(tc.row(i))
		}
		o := tableOptions(CloudCSV)
		o.VCPUs = map[string]int{"a2-megagpu-1": 1}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := read(t, CloudCSV, text.String(), o)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if len(r.Samples) != tc.want || r.Rows != count || r.Rows != len(r.Samples)+r.Skipped+r.Bad {
			t.Errorf("%s: %d samples of %d rows, %v", name, len(r.Samples), r.Rows, r.Reasons)
		}
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 64<<20 {
			t.Errorf("%s: %d bytes stay in memory", name, kept)
		}
	}
}

func readsMoreRowsThanItKeeps(t *testing.T) {
	const count = 50_000
	var machines strings.Builder
	for i := range 1000 {
		machines.WriteString(strings.Replace(goodSpareCores, "n4-standard-8", fmt.Sprintf("n4-standard-%d", 1+i), 1) + "\n")
	}
	r := read(t, SpareCores, strings.Repeat(machines.String(), count/1000), options())
	if r.Rows != count || r.Bad != 0 || len(r.Samples) != 1000 || r.Skipped != r.Reasons[Superseded] {
		t.Errorf("%d samples, %d bad, %v", len(r.Samples), r.Bad, r.Reasons)
	}
}

// TestLongNames reads rows whose names are as long as a row may be. All of them together are much
// larger than the memory that reading them may take.
func TestLongNames(t *testing.T) {
	const count, size, most = 100, 900_000, 32 << 20
	long := strings.Repeat("x", size)
	machine := func(text string) func(int) string {
		return func(i int) string { return strings.Replace(text, "n4-standard-8", fmt.Sprint(long, i), 1) }
	}
	for _, tc := range []struct {
		name   string
		format Format
		row    func(i int) string
	}{
		{"machines of Spare Cores", SpareCores, machine(goodSpareCores)},
		{"types of Spare Cores", SpareCores, machine(strings.Replace(goodSpareCores, `"config"`, `"api_reference":"e2-micro","config"`, 1))},
		{"runs of PerfKit", PerfKit, func(i int) string { return strings.Replace(goodPerfKit, "c0ffee01", fmt.Sprint(long, i), 1) }},
		{"servers", "", func(i int) string { return fmt.Sprintf(`{"vendor_id":"gcp","server_id":"%s%d","vcpus":2}`, long, i) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, while runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			in, out := io.Pipe()
			go func() {
				w := bufio.NewWriterSize(out, 1<<20)
				for i := range count {
					_, _ = w.WriteString(tc.row(i) + "\n")
				}
				_ = w.Flush()
				runtime.GC()
				runtime.ReadMemStats(&while)
				_ = out.Close()
			}()
			if tc.format == "" {
				if servers, err := ReadServers(in); err == nil {
					t.Errorf("%d servers are kept", len(servers))
				}
			} else {
				r, err := Read(tc.format, in, options())
				if err != nil || r.Bad != count || r.Reasons[InvalidValue] != count || !strings.Contains(r.Faults[0].Reason, "must have at most 512 bytes") {
					t.Errorf("%v, %v, %v", r.Reasons, r.Faults, err)
				}
			}
			if used := int64(while.HeapAlloc) - int64(before.HeapAlloc); used > most {
				t.Errorf("took %d MiB", used>>20)
			}
		})
	}
}

// TestLongTexts reads a result whose every row refers to the same long text.
func TestLongTexts(t *testing.T) {
	const rows = 20_000
	var results strings.Builder
	for i := range rows {
		fmt.Fprintf(&results, `%s"%d":{"identifier":"pts/compress-7zip-1.12.0","results":{"a":{"value":1}}}`, strings.Repeat(",", min(i, 1)), i)
	}
	text := `{"title":"x","systems":{"a":{"hardware":{"Processor":"` + strings.Repeat("(1 Core", 500_000) + `"}}},"results":{` + results.String() + `}}`
	began := cpuTime(t)
	r := read(t, Phoronix, text, options())
	if took := cpuTime(t) - began; took > 5*time.Second || r.Bad != rows || r.Faults[0].Field != "pts/compress-7zip-1.12.0, a, Processor" {
		t.Errorf("took %v, %d bad of %d, %+v", took, r.Bad, r.Rows, r.Faults[0])
	}
}
