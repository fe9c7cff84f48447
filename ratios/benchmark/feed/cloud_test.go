package feed

import (
	"bufio"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
)

// amazon has families and sizes of AWS. Together with exceptions, that is about as many types as
// published scores have.
var amazon = struct{ families, sizes, others string }{
	families: "a1 c3 c5 c5a c5ad c5d c5n c6a c6g c6gd c6gn c6i c6id c6in c7a c7g c7gd c7gn c7i c8g c8gd g4dn g5 g6 i3en i4i i7ie i8g im4gn is4gen " +
		"m4 m5 m5a m5ad m5d m5dn m5n m5zn m6a m6g m6gd m6i m6id m6idn m6in m7a m7g m7gd m7i m8g m8gd " +
		"r4 r5 r5a r5ad r5b r5d r5dn r5n r6a r6g r6gd r6i r6id r6idn r6in r7a r7g r7gd r7i r7iz r8g r8gd x1e x2gd x2idn x2iedn x2iezn x8g z1d",
	sizes:  "large xlarge 2xlarge 4xlarge 8xlarge 12xlarge 16xlarge 24xlarge 32xlarge 48xlarge metal-24xl metal-48xl",
	others: "c5.metal m6i.metal r6g.metal t3.micro t3a.small t4g.medium m7g.medium t2.medium c4.8xlarge d2.8xlarge hpc7a.96xlarge u-6tb1.56xlarge i3.metal u-12tb1.metal",
}

// TestACloud reads as many rows as AWS has, in the shape of its file: server_id is the name of a
// type, there is no table of servers, and most rows are of variants without weight.
func TestACloud(t *testing.T) {
	const (
		rowsPerType = 490
		most        = 20 * time.Second
		mostMemory  = 512 << 20
	)
	var types []string
	for family := range strings.FieldsSeq(amazon.families) {
		for size := range strings.FieldsSeq(amazon.sizes) {
			types = append(types, family+"."+size)
		}
	}
	types = append(types, strings.Fields(amazon.others)...)
	unknown := []string{"i3.metal", "u-12tb1.metal"}
	text, err := os.ReadFile("testdata/sparecores-n4-standard-8.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	weighted, others := variants(t, strings.ReplaceAll(string(text), `"vendor_id": "gcp"`, `"vendor_id": "aws"`))

	in, out := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(out, 1<<20)
		for _, name := range types {
			of := strings.NewReplacer(`"1750003"`, `"`+name+`"`)
			for _, row := range weighted {
				_, _ = of.WriteString(w, row)
			}
			for i := range rowsPerType - len(weighted) {
				_, _ = of.WriteString(w, others[i%len(others)])
			}
		}
		_ = out.CloseWithError(w.Flush())
	}()
	began := cpuTime(t)
	r, err := Read(SpareCores, in, options())
	if err != nil {
		t.Fatal(err)
	}
	took := cpuTime(t) - began
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("%d rows of %d types in %v of CPU time and %d MiB: %d samples, %v", r.Rows, len(types), took, memory.Sys>>20, len(r.Samples), r.Reasons)
	if took > most || memory.Sys > mostMemory {
		t.Errorf("took %v and %d bytes, at most %v and %d are allowed", took, memory.Sys, most, mostMemory)
	}
	bad := len(unknown) * len(weighted)
	if r.Rows < 476_819 || r.Rows != len(types)*rowsPerType || r.Bad != bad || r.Reasons[UnknownVCPUs] != bad || r.Skipped != r.Reasons[NoWeight] {
		t.Errorf("%d rows, %d bad, %d skipped, %v", r.Rows, r.Bad, r.Skipped, r.Reasons)
	}
	if accepted := r.Rows - r.Skipped - r.Bad; float64(accepted) < 0.99*float64(len(types)*len(weighted)) {
		t.Errorf("%d of %d rows of suites with weight are accepted", accepted, len(types)*len(weighted))
	}
	vcpus := map[string]int{}
	for _, s := range r.Samples {
		vcpus[s.InstanceType] = s.VCPUs
	}
	for name, want := range map[string]int{"m7i.large": 2, "c7g.12xlarge": 48, "m7i.metal-24xl": 96, "c5.metal": 96, "c4.8xlarge": 36, "t3.micro": 2, "u-6tb1.56xlarge": 224} {
		if vcpus[name] != want {
			t.Errorf("%s has %d vCPUs, want %d", name, vcpus[name], want)
		}
	}
	if len(vcpus) != len(types)-len(unknown) {
		t.Errorf("samples of %d types, want %d", len(vcpus), len(types)-len(unknown))
	}
}

// variants returns the rows of the tests that suites with weight have, and the other rows.
func variants(t *testing.T, text string) (weighted, others []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		r, fault := objectRecord([]byte(line))
		if fault != nil {
			t.Fatal(fault)
		}
		config, fault := readConfig(r("config"))
		if fault != nil {
			t.Fatal(fault)
		}
		if of, _ := suite.Find(r("benchmark_id"), config.setting); of != nil && of.Weight > 0 {
			weighted = append(weighted, line)
		} else {
			others = append(others, line)
		}
	}
	if len(weighted) == 0 || len(others) == 0 {
		t.Fatalf("%d rows with weight, %d others", len(weighted), len(others))
	}
	return slices.Clip(weighted), others
}

// cpuTime returns the CPU time that this process has used: other tests may run on the machine.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
