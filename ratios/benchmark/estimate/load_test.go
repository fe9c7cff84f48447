package estimate

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// kind has the scores per vCPU of a node type with all threads busy and of one thread, and its
// number of threads per core.
type kind struct {
	nodeType       string
	all, single    float64
	threadsPerCore int
}

func (k kind) samples(benchmarks ...string) []sample.Sample {
	var samples []sample.Sample
	for _, benchmark := range benchmarks {
		s := published(k.nodeType, benchmark, 8*k.all)
		s.SingleThread, s.ThreadsPerCore, s.Machine = k.single, k.threadsPerCore, k.nodeType
		samples = append(samples, s)
	}
	return samples
}

// The threads of n2d share cores: one alone does 200, and all do 100 each. Those of t2d do 200 in
// any case.
func TestLoads(t *testing.T) {
	n2d, t2d, n4 := kind{"n2d", 100, 200, 2}, kind{"t2d", 200, 200, 1}, kind{"n4", 110, 220, 2}
	for _, tc := range []struct {
		name  string
		of    kind
		loads map[string]float64
		want  float64
		held  bool
	}{
		{"with all threads busy", t2d, map[string]float64{"n2d": 1}, 2, false},
		{"with one busy thread per core", t2d, map[string]float64{"*": 0}, 1, false},
		{"with siblings that are busy half of the time", t2d, map[string]float64{"n2d": 0.5}, 200 * (0.5/200 + 0.5/100), false},
		{"the load of a type takes precedence over that of all others", t2d, map[string]float64{"n2d": 1, "*": 0}, 2, false},
		{"an unknown load holds types of different kinds back", t2d, nil, 2, true},
		{"an unknown load does not matter between types of the same kind", n4, nil, 1.1, false},
		{"the load of one of two types is not enough", n4, map[string]float64{"n4": 0}, 1.1, false},
		{"an unknown number of threads does not hold back", kind{"n1", 110, 220, 0}, nil, 1.1, false},
		{"a load does not matter much between types of the same kind", n4, map[string]float64{"*": 0.3}, 1.1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := lenient()
			s.Loads = tc.loads
			e := estimates(append(n2d.samples("x", "y"), tc.of.samples("x", "y")...), "n2d", s)[tc.of.nodeType]
			if !near(e.Ratio, tc.want, 1e-9) || held(e, LoadUnknown) != tc.held {
				t.Errorf("ratio %v, want %v; doubts %v", e.Ratio, tc.want, e.Doubts)
			}
			if want := (Ends{tc.of.single / 200, tc.of.all / 100}); e.Ends == nil || !near(e.Ends.OneThread, want.OneThread, 1e-9) || !near(e.Ends.AllThreads, want.AllThreads, 1e-9) {
				t.Errorf("ends %+v, want %+v", e.Ends, want)
			}
			if tc.held && !strings.Contains(e.Doubts[0].Message, "t2d has 1 and baseline n2d 2 threads per core: the ratio is 1.00 with one busy thread per core and 2.00 with all threads busy; set loads") {
				t.Errorf("doubts %v", e.Doubts)
			}
		})
	}
}

func TestLoadsWithUnknownThreadsOfTheBaseline(t *testing.T) {
	samples := append(kind{"n2d", 100, 200, 0}.samples("x", "y"), kind{"n4", 110, 220, 2}.samples("x", "y")...)
	if e := estimates(samples, "n2d", lenient())["n4"]; !near(e.Ratio, 1.1, 1e-9) || held(e, LoadUnknown) {
		t.Errorf("ratio %v; doubts %v", e.Ratio, e.Doubts)
	}
}

// One of two benchmarks does not state the threads per core of the same machine.
func TestLoadsOfMachinesThatAreKnownInPart(t *testing.T) {
	samples := append(kind{"n2d", 100, 200, 2}.samples("x", "y"), kind{"t2d", 200, 200, 1}.samples("x")...)
	samples = append(samples, kind{"t2d", 200, 200, 0}.samples("y")...)
	if e := estimates(samples, "n2d", lenient())["t2d"]; !held(e, LoadUnknown) {
		t.Errorf("doubts %v", e.Doubts)
	}
}

// One of two benchmarks was not run on one thread. It gains as much from an idle sibling as the
// other.
func TestLoadsOfBenchmarksWithoutASingleThread(t *testing.T) {
	var samples []sample.Sample
	for _, k := range []kind{{"n2d", 100, 200, 2}, {"t2d", 200, 200, 1}} {
		samples = append(samples, k.samples("x")...)
		k.single = 0
		samples = append(samples, k.samples("y")...)
	}
	s := lenient()
	s.Loads = map[string]float64{"*": 0}
	e := estimates(samples, "n2d", s)["t2d"]
	if !near(e.Ratio, 1, 1e-9) || len(e.Parts) != 2 || e.Parts[1].Weight == 0 {
		t.Errorf("ratio %v from %+v", e.Ratio, e.Parts)
	}
	// Without any, the speed is not known.
	s.Loads["*"] = 0.5
	var none []sample.Sample
	for _, x := range samples {
		if x.Benchmark == "y" {
			none = append(none, x)
		}
	}
	if e := estimates(none, "n2d", s)["t2d"]; e.Ratio != 0 || e.Parts[0].Weight != 0 {
		t.Errorf("ratio %v from %+v", e.Ratio, e.Parts)
	}
}
