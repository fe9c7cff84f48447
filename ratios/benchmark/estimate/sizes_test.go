package estimate

import (
	"math"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// sized returns published scores per vCPU of a node type by two benchmarks, by size.
func sized(nodeType string, perVCPU map[int]float64) []sample.Sample {
	var samples []sample.Sample
	for vcpus, score := range perVCPU {
		for _, benchmark := range []string{"x", "y"} {
			s := published(nodeType, benchmark, score*float64(vcpus))
			s.VCPUs, s.Threads, s.Machine = vcpus, vcpus, nodeType+string(rune('a'+vcpus%26))
			samples = append(samples, s)
		}
	}
	return samples
}

func TestSizes(t *testing.T) {
	base := map[int]float64{2: 100, 8: 50, 16: 40}
	for _, tc := range []struct {
		name  string
		of    map[int]float64
		sizes map[int]float64
		want  float64
	}{
		{"only equal sizes are compared", map[int]float64{2: 110, 4: 900, 64: 5}, nil, 1.1},
		{"all sizes count alike", map[int]float64{2: 110, 8: 60}, nil, math.Sqrt(1.1 * 1.2)},
		{"sizes count by the vCPUs that the cluster has", map[int]float64{2: 110, 8: 60}, map[int]float64{2: 10, 8: 30, 64: 99}, math.Pow(1.1, 0.25) * math.Pow(1.2, 0.75)},
		{"sizes that the cluster has, but nobody measured, do not matter", map[int]float64{2: 110, 8: 60}, map[int]float64{64: 99}, math.Sqrt(1.1 * 1.2)},
		{"without an equal size, the nearest two stand for it", map[int]float64{11: 50}, nil, 50 / (50 * math.Pow(40.0/50, math.Log2(11.0/8)))},
		{"sizes that are too far apart are not compared", map[int]float64{4: 90, 32: 9}, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			samples := append(sized("n2d", base), sized("n4", tc.of)...)
			cluster := Cluster{Sizes: map[string]map[int]float64{"n4": tc.sizes, "n2d": {2: 1000}}}
			e := Estimates(Aggregates(samples, now, Defaults()), "n2d", cluster, Defaults())[0]
			if !near(e.Ratio, tc.want, 1e-9) {
				t.Errorf("ratio %v, want %v", e.Ratio, tc.want)
			}
			if tc.want == 0 && (len(e.Doubts) == 0 || !strings.Contains(e.Doubts[0].Message, "sizes that are too different")) {
				t.Errorf("doubts %v", e.Doubts)
			}
		})
	}
}

// Each figure of a benchmark is for all sizes.
func TestPartsOfSeveralSizes(t *testing.T) {
	var samples []sample.Sample
	for _, k := range []struct {
		nodeType          string
		vcpus, runs       int
		all, single, load float64
	}{
		{"n2d", 2, 1, 100, 200, 0.1}, {"n2d", 8, 2, 50, 150, 0.2},
		{"n4", 2, 3, 110, 240, 0.3}, {"n4", 8, 1, 60, 210, 0.6},
	} {
		for _, x := range sized(k.nodeType, map[int]float64{k.vcpus: k.all}) {
			x.SingleThread, x.OtherLoad, x.Runs = k.single, k.load, k.runs
			samples = append(samples, x)
		}
	}
	e := estimates(samples, "n2d", lenient())["n4"]
	if e.Ends == nil || !near(e.Ends.OneThread, math.Sqrt(1.2*1.4), 1e-9) || !near(e.Ends.AllThreads, math.Sqrt(1.1*1.2), 1e-9) {
		t.Errorf("ends %+v", e.Ends)
	}
	if !near(e.busier, (0.2+0.4)/2, 1e-9) {
		t.Errorf("%v busier", e.busier)
	}
	if p := e.Parts[0]; p.Samples != 4 || p.Machines != 2 || p.BaselineSamples != 3 || p.BaselineMachines != 2 {
		t.Errorf("%+v", p)
	}
}

func TestBenchmarksWithoutComparableSizes(t *testing.T) {
	var samples []sample.Sample
	for _, nodeType := range []string{"n2d", "n4"} {
		for _, x := range sized(nodeType, map[int]float64{4: 90}) {
			if x.Benchmark == "x" && nodeType == "n4" {
				x.VCPUs, x.Threads = 64, 64
			}
			samples = append(samples, x)
		}
	}
	if e := estimates(samples, "n2d", lenient())["n4"]; len(e.Parts) != 1 || e.Parts[0].Benchmark != "y" {
		t.Errorf("parts %+v", e.Parts)
	}
}
