package settings

import (
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/reader"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// keys are all keys of the settings.
var keys = []key[Settings]{
	{"mode", "for node types that `nodeTypes` does not name: `observe` only shows measured ratios, `apply` makes them the ratios of the `benchmark` source", "`observe` or `apply`", string(Defaults().Default),
		func(v reader.Value, into *Settings) { readMode(v, &into.Default) }},
	{"nodeTypes", "the mode of one node type, e.g. `n4: {mode: apply}`; `\"e2@Intel-6-79\"` is one CPU model of `e2`", "by node type", "", readModes},

	number("aggregation.minSamples", 1, 1000, func(s *Settings) *int { return &s.Estimate.MinSamples }, "minimum number of samples per benchmark"),
	number("aggregation.minMachines", 1, 1000, func(s *Settings) *int { return &s.Estimate.MinMachines }, "minimum number of machines per benchmark"),
	number("aggregation.minBenchmarks", 1, 100, func(s *Settings) *int { return &s.Estimate.MinBenchmarks }, "minimum number of benchmarks with enough samples and machines"),
	number("aggregation.maxSpread", 1, 100, func(s *Settings) *float64 { return &s.Estimate.MaxSpread }, "maximum factor between the lowest and the highest ratio of the benchmarks, and between the ends of the confidence interval"),
	number("aggregation.maxModelSpread", 1, 100, func(s *Settings) *float64 { return &s.Estimate.MaxModelSpread }, "maximum factor between the CPU models of a node type"),
	number("aggregation.outliersFrom", 3, 1000, func(s *Settings) *int { return &s.Estimate.OutliersFrom }, "minimum number of samples for dropping outliers"),
	number("aggregation.outlierDeviations", 1, 100, func(s *Settings) *float64 { return &s.Estimate.OutlierDeviations }, "distance from the median, in scaled median absolute deviations, beyond which a sample is an outlier"),
	span("aggregation.maxAge", time.Hour, 10*year, Defaults().Estimate.MaxAge, func(s *Settings) *time.Duration { return &s.Estimate.MaxAge }, "age from which samples are ignored"),
	number("aggregation.confidence", 0.5, 0.999, func(s *Settings) *float64 { return &s.Estimate.Confidence }, "confidence level of the interval of a ratio"),
	number("aggregation.resamples", 100, 100_000, func(s *Settings) *int { return &s.Estimate.Resamples }, "number of resamples from which that interval is computed"),

	{"weights", "weight of a benchmark relative to others; a benchmark with weight 0 is only shown; a name may end in `*`; the longest match applies, or 1 if none matches; extends the default", "by benchmark, 0 to 1000", "bench-node:memory-*: 0", readWeights},

	number("changes.deadBand", 0, 0.5, func(s *Settings) *float64 { return &s.Pace.DeadBand }, "relative difference between the benchmarks and the current ratio up to which the ratio does not change"),
	number("changes.windows", 1, 100, func(s *Settings) *int { return &s.Pace.Windows }, "number of consecutive windows that must confirm a change"),
	span("changes.window", time.Second, day, Defaults().Pace.Window, func(s *Settings) *time.Duration { return &s.Pace.Window }, "length of a window"),
	number("changes.maxStepPerHour", 0.001, 1, func(s *Settings) *float64 { return &s.Pace.MaxStepPerHour }, "maximum relative change in a ratio per hour"),
	number("changes.min", 0.01, 1, func(s *Settings) *float64 { return &s.Pace.Min }, "minimum ratio to the baseline"),
	number("changes.max", 1, 100, func(s *Settings) *float64 { return &s.Pace.Max }, "maximum ratio to the baseline"),

	number("samples.perKey", 1, 1000, func(s *Settings) *int { return &s.Limits.PerKey }, "number of samples to keep per node type, CPU model, benchmark and version; the newest are kept"),

	{"feeds", "feeds that are read periodically, see below", "a list of up to 64", "", readFeeds},
}

func readMode(v reader.Value, into *Mode) {
	switch text, _ := v.Text(); Mode(text) {
	case Observe, Apply:
		*into = Mode(text)
	default:
		v.Fault("must be observe or apply, not %s", v)
	}
}

func readModes(v reader.Value, into *Settings) {
	into.Modes = map[string]Mode{}
	v.Each(func(nodeType string, v reader.Value) {
		if problem := nodeTypeProblem(nodeType); problem != "" {
			v.Fault("%s", problem)
		}
		var mode Mode
		if readKeys(v, []key[Mode]{{name: "mode", read: readMode}}, &mode) && mode == "" {
			v.KeyFault("mode", "must be set")
		}
		into.Modes[nodeType] = mode
	})
}

func readWeights(v reader.Value, into *Settings) {
	into.Estimate.Weights = maps.Clone(into.Estimate.Weights)
	v.Each(func(benchmark string, v reader.Value) {
		if problem := patternProblem(benchmark); problem != "" {
			v.Fault("%s", problem)
		}
		var weight float64
		readNumber(v, 0, 1000, &weight)
		into.Estimate.Weights[benchmark] = weight
	})
}
