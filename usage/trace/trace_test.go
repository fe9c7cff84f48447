package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

var update = flag.Bool("update", false, "write the small trace in testdata")

// read returns the machines of a trace.
func read(text string) (machines []*Machine, err error) {
	err = Read(strings.NewReader(text), func(m *Machine) error {
		machines = append(machines, m)
		return nil
	})
	return machines, err
}

const valid = `# comment
vm 1 cores 2 memory_kib 1024 mhz 2600
1372629804,0.03,10
300,0.006667,11.5

0,1e-3,0
vm two cores 0.5 memory_kib 1e6 mhz 0
1372629000,0,5
`

func TestRead(t *testing.T) {
	t.Run("returns machines and samples", func(t *testing.T) {
		all, err := read(valid)
		if err != nil || len(all) != 2 {
			t.Fatalf("%d machines, %v", len(all), err)
		}
		if m := all[0]; m.Name != "1" || m.Given.Request != (recommend.Amounts{CPU: 2000, Memory: 1 << 20}) || m.Given.Limit != m.Given.Request ||
			!slices.Equal(m.Rows, []Row{{At: 1372629804, CPU: 30, Memory: 10240}, {At: 1372630104, CPU: 7, Memory: 11776}, {At: 1372630104, CPU: 1}}) {
			t.Errorf("%+v", m)
		}
		if m := all[1]; m.Name != "two" || m.Given.Request.CPU != 500 || !slices.Equal(m.Rows, []Row{{At: 1372629000, Memory: 5120}}) {
			t.Errorf("%+v", m)
		}
	})
	t.Run("decompresses", func(t *testing.T) {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(valid)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if all, err := read(packed.String()); err != nil || len(all) != 2 {
			t.Errorf("%d machines, %v", len(all), err)
		}
		for _, length := range []int{5, packed.Len() / 2, packed.Len() - 9, packed.Len() - 1} {
			if _, err := read(packed.String()[:length]); err == nil || !strings.Contains(err.Error(), "the file ends early") {
				t.Errorf("%d of %d bytes: %v", length, packed.Len(), err)
			}
		}
	})
	t.Run("skips a byte order mark", func(t *testing.T) {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write([]byte("\uFEFF" + valid))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"\uFEFF" + valid, packed.String()} {
			if all, err := read(text); err != nil || len(all) != 2 {
				t.Errorf("%d machines, %v", len(all), err)
			}
		}
	})
	t.Run("does not know what a machine without an amount was given", func(t *testing.T) {
		all, err := read("vm 1 cores 1 memory_kib 0 mhz 1\n5,0.5,3\nvm 2 cores 0 memory_kib 1 mhz 1\n5,0.5,3\n")
		if err != nil || len(all) != 2 {
			t.Fatalf("%d machines, %v", len(all), err)
		}
		for i, want := range []recommend.Amounts{{CPU: 1000}, {Memory: 1024}} {
			if got := all[i].Given; got.Request != want || got.Limit != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	})
	t.Run("ends with an error of the caller", func(t *testing.T) {
		enough := errors.New("enough")
		for n := range 2 {
			err := Read(strings.NewReader(valid), func(*Machine) error {
				n--
				if n < 0 {
					return enough
				}
				return nil
			})
			if !errors.Is(err, enough) {
				t.Error(err)
			}
		}
	})
	const header = "vm 1 cores 2 memory_kib 1024 mhz 2600\n"
	for name, test := range map[string]struct{ text, want string }{
		"nothing":                       {"", "it has no machine"},
		"UTF-16":                        {"\xFF\xFEv\x00m\x00", "it is UTF-16: save it as UTF-8"},
		"UTF-16 of a big endian":        {"\xFE\xFF\x00v\x00m", "it is UTF-16: save it as UTF-8"},
		"a sample without a machine":    {"1,2,3\n", "line 1 of the trace: a sample before the first machine"},
		"a machine of negative CPU":     {"vm 1 cores -1 memory_kib 1024 mhz 1\n", `machine "1" does not have 0 to 9e10 cores and KiB`},
		"a machine of infinite memory":  {"vm 1 cores 1 memory_kib Inf mhz 1\n", `machine "1" does not have 0 to 9e10 cores and KiB`},
		"a machine without numbers":     {"vm 1 cores two memory_kib 1024 mhz 1\n", "is not vm NAME"},
		"too few fields":                {header + "1,2\n", `line 2 of the trace: "1,2" is not TIME`},
		"a time that is no number":      {header + "x,2,3\n", "is not TIME"},
		"a time that goes back":         {header + "5,2,3\n-1,2,3\n", "line 3 of the trace"},
		"CPU that is not a number":      {header + "5,NaN,3\n", "does not have two numbers from 0 to 9e10"},
		"more CPU than any machine has": {header + "5,1e12,3\n", "does not have two numbers from 0 to 9e10"},
		"CPU that is no number":         {header + "5,x,3\n", "does not have two numbers from 0 to 9e10"},
		"memory that is infinite":       {header + "5,1,Inf\n", "does not have two numbers from 0 to 9e10"},
		"memory that is negative":       {header + "5,1,-3\n", "does not have two numbers from 0 to 9e10"},
		"memory that is no number":      {header + "5,1,3,4\n", "does not have two numbers from 0 to 9e10"},
		"a line that does not end soon": {header + strings.Repeat("1", longestLine+1), "a line is longer than 65536 bytes"},
	} {
		t.Run("rejects "+name, func(t *testing.T) {
			if _, err := read(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestGenerate(t *testing.T) {
	generate := func(seed uint64) string {
		var b bytes.Buffer
		if err := Generate(&b, 6, 14, seed); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := generate(1)
	t.Run("generates a trace", func(t *testing.T) {
		all, err := read(text)
		if err != nil || len(all) != 6 {
			t.Fatalf("%d machines, %v", len(all), err)
		}
		for _, m := range all {
			if n := len(m.Rows); n < 14*288*97/100 || n > 14*288 || m.Rows[n-1].At-m.Rows[0].At > 14*24*3600 {
				t.Errorf("machine %s has %d samples", m.Name, n)
			}
			for _, row := range m.Rows {
				if row.CPU > m.Given.Request.CPU || row.Memory > m.Given.Request.Memory {
					t.Fatalf("machine %s uses more than it has: %+v", m.Name, row)
				}
			}
		}
	})
	t.Run("generates the same trace from the same seed", func(t *testing.T) {
		if generate(1) != text || generate(2) == text {
			t.Error("the trace does not follow from its seed")
		}
	})
	t.Run("has generated the small trace", func(t *testing.T) {
		const name = "testdata/small.csv.gz"
		if *update {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			if _, err := w.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, packed.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		n := 0
		want, _ := read(text)
		if err := Read(file, func(m *Machine) error {
			if !slices.Equal(m.Rows, want[n].Rows) {
				t.Errorf("machine %s differs: run this test with -update", m.Name)
			}
			n++
			return nil
		}); err != nil || n != 6 {
			t.Errorf("%d machines, %v", n, err)
		}
	})
}

// FuzzRead checks that any text is rejected or has usable samples.
func FuzzRead(f *testing.F) {
	f.Add(valid)
	f.Add("vm 1 cores NaN memory_kib 1 mhz 1\n1,Inf,2\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := read(text)
		if err != nil {
			return
		}
		for _, m := range all {
			if m.Given.Request.CPU < 0 || m.Given.Request.Memory < 0 {
				t.Errorf("%+v", m.Given)
			}
			for _, row := range m.Rows {
				if row.CPU < 0 || row.Memory < 0 || row.CPU > 1e14 || row.Memory > 1e14 || row.At < 0 {
					t.Errorf("%+v", row)
				}
			}
		}
	})
}
