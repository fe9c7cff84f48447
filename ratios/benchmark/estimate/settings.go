package estimate

import (
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
)

// Settings define which estimates are trustworthy.
type Settings struct {
	// MinBenchmarks is the minimum number of benchmarks. Those of node agents each need
	// MinSamples and MinMachines of the node type and of the baseline.
	MinSamples, MinMachines, MinBenchmarks int
	// TolerancePublished and ToleranceMeasured are the maximum half-widths of the interval, as
	// fractions of the ratio, for published scores and for measurements of node agents.
	TolerancePublished, ToleranceMeasured float64
	// MaxModelSpread is the maximum factor between the CPU models of a node type.
	MaxModelSpread float64
	// OutliersFrom is the minimum number of samples of a key for dropping outliers,
	// and of machines for dropping a machine as a whole. OutlierDeviations is the
	// distance from the median, in scaled median absolute deviations, beyond which
	// a sample is an outlier.
	OutliersFrom      int
	OutlierDeviations float64
	// MaxAgePublished and MaxAgeMeasured are the ages from which samples are ignored. The
	// score of a machine type stays true for years, but a node changes.
	MaxAgePublished, MaxAgeMeasured time.Duration
	// Weights are the weights of benchmarks, by name or by a prefix that ends in *.
	// The longest match applies, or 1 if none matches. A benchmark with weight 0 is
	// only shown.
	Weights map[string]float64
	// Loads are, by node type or "*" for all others, the share of the busy time of a thread in
	// which the sibling thread on its core is busy, too.
	Loads map[string]float64
	// Confidence is the confidence level of the interval, e.g. 0.95.
	Confidence float64
	// Prior is the standard deviation of the speed of machines of one type and size, as a
	// fraction, where only one was published.
	Prior float64
}

const (
	// minSamples is the smallest number that shows whether one of the samples is odd.
	minSamples = 3
	// maxModelSpread is twice the usual dead band: with a larger one, the ratio of a type could be right for none of its
	// CPU models.
	maxModelSpread = 1.1
	// outliersFrom is the smallest number of samples that has a majority without two odd ones, and outlierDeviations the
	// usual distance of outliers (Iglewicz and Hoaglin).
	outliersFrom, outlierDeviations = 5, 3.5
	// maxAgePublished is about how long clouds offer a machine type as the latest, and maxAgeMeasured is a quarter: within
	// it, clouds replace most hosts of a type, and nodes their kernel.
	maxAgePublished, maxAgeMeasured = 3 * 365 * 24 * time.Hour, 90 * 24 * time.Hour
	// confidence is the usual level. Users choose how wide the interval may be.
	confidence = 0.95
)

// Defaults returns settings that are suitable for clouds.
func Defaults() Settings {
	return Settings{
		MinSamples: minSamples, MinMachines: 8, MinBenchmarks: 2,
		TolerancePublished: 0.1, ToleranceMeasured: 0.03, MaxModelSpread: maxModelSpread,
		OutliersFrom: outliersFrom, OutlierDeviations: outlierDeviations,
		MaxAgePublished: maxAgePublished, MaxAgeMeasured: maxAgeMeasured,
		Weights:    suite.Weights(),
		Confidence: confidence, Prior: machineNoise,
	}
}

// maxAge returns the age from which samples of node agents or of publishers are ignored.
func (s *Settings) maxAge(own bool) time.Duration {
	if own {
		return s.MaxAgeMeasured
	}
	return s.MaxAgePublished
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
