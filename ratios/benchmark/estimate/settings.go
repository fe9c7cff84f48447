package estimate

import (
	"strings"
	"time"
)

// Settings say what is sound enough.
type Settings struct {
	// MinBenchmarks is how many benchmarks there must be, each with MinSamples and
	// MinMachines of the node type and of the baseline.
	MinSamples, MinMachines, MinBenchmarks int
	// MaxSpread is how many times the least ratio of a benchmark the greatest may
	// be, and the lower end of the interval the upper one.
	MaxSpread float64
	// MaxModelSpread is the same of the CPU models of one node type.
	MaxModelSpread float64
	// OutliersFrom is from how many samples of a key on outliers are dropped, and
	// OutlierDeviations how many (scaled median absolute) deviations from the
	// median they are. Machines are dropped as a whole from as many machines on.
	OutliersFrom      int
	OutlierDeviations float64
	// MaxAge is when samples stop to count.
	MaxAge time.Duration
	// Weights of benchmarks by name, or by a prefix that ends in *; the longest
	// that fits counts. 1 where none fits; 0 is shown and does not count.
	Weights map[string]float64
	// Confidence of the interval, e.g. 0.95, and Resamples it is made of.
	Confidence float64
	Resamples  int
}

// Defaults are sound for clouds.
func Defaults() Settings {
	return Settings{
		MinSamples: 3, MinMachines: 2, MinBenchmarks: 2,
		MaxSpread: 1.3, MaxModelSpread: 1.1,
		OutliersFrom: 5, OutlierDeviations: 3.5,
		MaxAge:     90 * 24 * time.Hour,
		Weights:    map[string]float64{"bench-node:memory-*": 0},
		Confidence: 0.95, Resamples: 1000,
	}
}

// weight is that of a benchmark: by its name, else by the longest prefix.
func (s *Settings) weight(benchmark string) float64 {
	if w, ok := s.Weights[benchmark]; ok {
		return max(0, w)
	}
	weight, longest := 1.0, -1
	for pattern, w := range s.Weights {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		if isPrefix && len(prefix) > longest && strings.HasPrefix(benchmark, prefix) {
			weight, longest = max(0, w), len(prefix)
		}
	}
	return weight
}
