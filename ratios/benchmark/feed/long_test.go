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
