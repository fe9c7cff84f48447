package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// population is the world from which benchmarks and machines are drawn. The true ratio belongs to
// a mean benchmark and a mean machine.
type population struct {
	ratio float64
	// benchmarks are drawn, of which each node type lacks some.
	benchmarks int
	machines   int
	// Standard deviations: of the ratios of benchmarks, of machines, and of runs.
	between, machineNoise, runNoise float64
	missing                         float64
}

func (p population) draw(random *rand.Rand) []sample.Sample {
	var samples []sample.Sample
	ratios := make([]float64, p.benchmarks)
	for b := range ratios {
		ratios[b] = p.ratio * math.Exp(p.between*random.NormFloat64())
	}
	for _, nodeType := range []string{"base", "t"} {
		lacks := make([]bool, p.benchmarks)
		for b := range lacks {
			lacks[b] = random.Float64() < p.missing
		}
		for m := range p.machines {
			machine := math.Exp(p.machineNoise * random.NormFloat64())
			for b, ratio := range ratios {
				if nodeType == "base" {
					ratio = 1
				}
				if lacks[b] {
					continue
				}
				samples = append(samples, sample.Sample{
					ID: fmt.Sprint(b, m), NodeType: nodeType, Benchmark: fmt.Sprintf("bench-node:b%03d", b), VCPUs: 8, Threads: 8,
					Score: 1000 * ratio * machine * math.Exp(p.runNoise*random.NormFloat64()), Machine: fmt.Sprintf("%s-%d", nodeType, m), Time: now,
				})
			}
		}
	}
	return samples
}

// TestCoverage measures how often the interval contains the true ratio, and how many of the ratios
// that are certain enough to be applied are wrong.
func TestCoverage(t *testing.T) {
	const times, tolerance = 300, 0.03
	applied, wrong := 0, 0
	for _, machines := range []int{1, 2, 4, 8, 20} {
		inside, all := 0, 0
		for _, benchmarks := range []int{4, 10, 100} {
			p := population{ratio: 1.08, benchmarks: benchmarks, machines: machines, between: 0.08, machineNoise: 0.02, runNoise: 0.01, missing: 0.1}
			covered, known, here, off := 0, 0, 0, 0
			for i := range times {
				s := Defaults()
				s.MinSamples = 1
				e := estimates(p.draw(seeded(uint64(i))), "base", s)["t"]
				if e.Interval == nil {
					continue
				}
				known++
				if covers(e.Interval, p.ratio) {
					covered++
				}
				if len(e.Doubts) == 0 {
					here++
					if math.Abs(e.Ratio/p.ratio-1) > tolerance {
						off++
					}
				}
			}
			applied, wrong = applied+here, wrong+off
			inside, all = inside+covered, all+known
			t.Logf("%d machines, %d benchmarks: %.1f%% of %d intervals contain the true ratio; %d are applied, %d of them off by more than 3%%",
				machines, benchmarks, 100*float64(covered)/float64(max(known, 1)), known, here, off)
			if machines == 1 && known > 0 || machines < 8 && here > 0 {
				t.Errorf("%d machines: %d intervals are known, and %d ratios applied", machines, known, here)
			}
		}
		if share := float64(inside) / float64(max(all, 1)); machines >= 4 && (share < 0.93 || share > 0.97) {
			t.Errorf("%d machines: %.3f of the intervals contain the true ratio, want 0.93 to 0.97", machines, share)
		}
	}
	t.Logf("%d of %d applied ratios are off by more than 3%%", wrong, applied)
	if applied == 0 || float64(wrong) > 0.05*float64(applied) {
		t.Errorf("%d of %d applied ratios are off by more than 3%%, want at most 5%%", wrong, applied)
	}
}
