package estimate

import (
	"strings"
	"time"
)

// Settings define which estimates are trustworthy.
type Settings struct {
	// MinBenchmarks is the minimum number of benchmarks, each with MinSamples and
	// MinMachines of the node type and of the baseline.
	MinSamples, MinMachines, MinBenchmarks int
	// MaxSpread is the maximum factor between the lowest and the highest ratio of
	// the benchmarks, and between the ends of the confidence interval.
	MaxSpread float64
	// MaxModelSpread is the maximum factor between the CPU models of a node type.
	MaxModelSpread float64
	// OutliersFrom is the minimum number of samples of a key for dropping outliers,
	// and of machines for dropping a machine as a whole. OutlierDeviations is the
	// distance from the median, in scaled median absolute deviations, beyond which
	// a sample is an outlier.
	OutliersFrom      int
	OutlierDeviations float64
	// MaxAge is the age from which samples are ignored.
	MaxAge time.Duration
	// Weights are the weights of benchmarks, by name or by a prefix that ends in *.
	// The longest match applies, or 1 if none matches. A benchmark with weight 0 is
	// only shown.
	Weights map[string]float64
	// Confidence is the confidence level of the interval, e.g. 0.95, and Resamples
	// the number of resamples from which it is computed.
	Confidence float64
	Resamples  int
}

// Defaults returns settings that are suitable for clouds.
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

// weight returns the weight of a benchmark: by its name, or else by the longest prefix.
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
