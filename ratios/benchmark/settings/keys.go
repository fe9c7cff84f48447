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

// keys are all that can be said.
var keys = []key[Settings]{
	{"mode", "what benchmarks do for node types that `nodeTypes` does not name", "`observe` or `apply`", string(Defaults().Default),
		func(v reader.Value, into *Settings) { readMode(v, &into.Default) }},
	{"nodeTypes", "the same for one node type, e.g. `n4: {mode: apply}`; `\"e2@Intel-6-79\"` is one CPU model of it", "by node type", "", readModes},

	number("aggregation.minSamples", 1, 1000, func(s *Settings) *int { return &s.Estimate.MinSamples }, "how many samples a ratio needs"),
	number("aggregation.minMachines", 1, 1000, func(s *Settings) *int { return &s.Estimate.MinMachines }, "from how many machines"),
	number("aggregation.minBenchmarks", 1, 100, func(s *Settings) *int { return &s.Estimate.MinBenchmarks }, "by how many benchmarks"),
	number("aggregation.maxSpread", 1, 100, func(s *Settings) *float64 { return &s.Estimate.MaxSpread }, "how many times the least ratio of a benchmark the greatest may be, and the lower end of the confidence interval the upper one"),
	number("aggregation.maxModelSpread", 1, 100, func(s *Settings) *float64 { return &s.Estimate.MaxModelSpread }, "the same of the CPU models of a node type"),
	number("aggregation.outliersFrom", 3, 1000, func(s *Settings) *int { return &s.Estimate.OutliersFrom }, "from how many samples on outliers are dropped"),
	number("aggregation.outlierDeviations", 1, 100, func(s *Settings) *float64 { return &s.Estimate.OutlierDeviations }, "how many scaled median absolute deviations from the median they are"),
	span("aggregation.maxAge", time.Hour, 10*year, Defaults().Estimate.MaxAge, func(s *Settings) *time.Duration { return &s.Estimate.MaxAge }, "when samples stop to count"),
	number("aggregation.confidence", 0.5, 0.999, func(s *Settings) *float64 { return &s.Estimate.Confidence }, "confidence of the interval that a ratio is in"),
	number("aggregation.resamples", 100, 100_000, func(s *Settings) *int { return &s.Estimate.Resamples }, "how often the samples are drawn anew to find that interval"),

	{"weights", "how much a benchmark counts beside others, 0 is only shown; the name may end in `*`, the longest that fits counts, and 1 where none does; adds to the default", "by benchmark, 0 to 1000", "bench-node:memory-*: 0", readWeights},

	number("changes.deadBand", 0, 0.5, func(s *Settings) *float64 { return &s.Pace.DeadBand }, "by what share the benchmarks must differ from the ratio in force for it to change"),
	number("changes.windows", 1, 100, func(s *Settings) *int { return &s.Pace.Windows }, "how many windows in a row must say so"),
	span("changes.window", time.Second, day, Defaults().Pace.Window, func(s *Settings) *time.Duration { return &s.Pace.Window }, "how long a window is"),
	number("changes.maxStepPerHour", 0.001, 1, func(s *Settings) *float64 { return &s.Pace.MaxStepPerHour }, "by what share a ratio changes in an hour at most"),
	number("changes.min", 0.01, 1, func(s *Settings) *float64 { return &s.Pace.Min }, "the least ratio to the baseline"),
	number("changes.max", 1, 100, func(s *Settings) *float64 { return &s.Pace.Max }, "the greatest"),

	number("samples.perKey", 1, 1000, func(s *Settings) *int { return &s.Limits.PerKey }, "how many samples of one node type, CPU model, benchmark and version are kept, the newest"),

	{"feeds", "what is read again and again, see below", "a list of up to 64", "", readFeeds},
}

func readMode(v reader.Value, into *Mode) {
	switch text, _ := v.Text(); Mode(text) {
	case Observe, Apply:
		*into = Mode(text)
	default:
		v.Fault("want observe or apply, got %s", v)
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
