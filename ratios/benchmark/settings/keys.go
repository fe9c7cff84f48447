package settings

import (
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/reader"
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

	number("aggregation.minSamples", 1, 1000, func(s *Settings) *int { return &s.Estimate.MinSamples }, "minimum number of samples per benchmark of the node agent"),
	number("aggregation.minMachines", 1, 1000, func(s *Settings) *int { return &s.Estimate.MinMachines }, "minimum number of machines per benchmark of the node agent; with fewer, ratios are only shown"),
	number("aggregation.minBenchmarks", 1, 100, func(s *Settings) *int { return &s.Estimate.MinBenchmarks }, "minimum number of benchmarks with enough samples and machines"),
	number("aggregation.tolerancePublished", 0.001, 1, func(s *Settings) *float64 { return &s.Estimate.TolerancePublished }, "maximum half-width of the confidence interval of a ratio from published scores, as a fraction of the ratio"),
	number("aggregation.toleranceMeasured", 0.001, 1, func(s *Settings) *float64 { return &s.Estimate.ToleranceMeasured }, "the same for a ratio from measurements of the node agent"),
	number("aggregation.maxModelSpread", 1, 100, func(s *Settings) *float64 { return &s.Estimate.MaxModelSpread }, "maximum factor between the CPU models of a node type"),
	number("aggregation.outliersFrom", 3, 1000, func(s *Settings) *int { return &s.Estimate.OutliersFrom }, "minimum number of samples for dropping outliers"),
	number("aggregation.outlierDeviations", 1, 100, func(s *Settings) *float64 { return &s.Estimate.OutlierDeviations }, "distance from the median, in scaled median absolute deviations, beyond which a sample is an outlier"),
	span("aggregation.maxAgePublished", time.Hour, 10*year, Defaults().Estimate.MaxAgePublished, func(s *Settings) *time.Duration { return &s.Estimate.MaxAgePublished }, "age from which published scores are ignored; until then, their weight halves three times"),
	span("aggregation.maxAgeMeasured", time.Hour, 10*year, Defaults().Estimate.MaxAgeMeasured, func(s *Settings) *time.Duration { return &s.Estimate.MaxAgeMeasured }, "the same for measurements of the node agent"),
	number("aggregation.confidence", 0.5, 0.999, func(s *Settings) *float64 { return &s.Estimate.Confidence }, "confidence level of the interval of a ratio"),
	number("aggregation.prior", 0, 1, func(s *Settings) *float64 { return &s.Estimate.Prior }, "minimum standard deviation of the speed of machines of one type and size, as a fraction, where scores were published"),

	{"loads", "share of the busy time of a thread in which its sibling is busy, too, e.g. `n2d: 0.4`; `\"*\"` is for other node types; needed if threads per core differ", "by node type, 0 to 1", "", readLoads},
	{"weights", "weight of a suite relative to others; with 0, it is only shown; a name may end in `*`; the longest match applies, or else 1; extends the table of suites; `\"*\"` replaces all its weights above 0", "by suite, 0 to 1000", "the table of suites", readWeights},

	number("changes.deadBand", 0, 0.5, func(s *Settings) *float64 { return &s.Pace.DeadBand }, "relative difference between the benchmarks and the current ratio up to which the ratio does not change"),
	number("changes.windows", 1, 100, func(s *Settings) *int { return &s.Pace.Windows }, "number of consecutive windows that must confirm a change"),
	span("changes.window", time.Second, day, Defaults().Pace.Window, func(s *Settings) *time.Duration { return &s.Pace.Window }, "length of a window"),
	number("changes.maxStepPerHour", 0.001, 1, func(s *Settings) *float64 { return &s.Pace.MaxStepPerHour }, "maximum relative change in a ratio per hour"),
	number("changes.min", 0.01, 1, func(s *Settings) *float64 { return &s.Pace.Min }, "minimum ratio to the baseline"),
	number("changes.max", 1, 100, func(s *Settings) *float64 { return &s.Pace.Max }, "maximum ratio to the baseline"),

	number("samples.perKey", 1, 1000, func(s *Settings) *int { return &s.Limits.PerKey }, "number of samples to keep per node type, CPU model, benchmark, version and number of vCPUs; the newest are kept"),

	number("agents.machines", 1, 1000, func(s *Settings) *int { return &s.Machines }, "number of nodes per node type, CPU model and number of vCPUs that node agents measure; at least `aggregation.minMachines`"),

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

func readLoads(v reader.Value, into *Settings) {
	into.Estimate.Loads = map[string]float64{}
	v.Each(func(nodeType string, v reader.Value) {
		if problem := nodeTypeProblem(nodeType); problem != "" && nodeType != "*" {
			v.Fault("%s", problem)
		}
		var load float64
		readNumber(v, 0, 1, &load)
		into.Estimate.Loads[nodeType] = load
	})
}

func readWeights(v reader.Value, into *Settings) {
	set := map[string]float64{}
	v.Each(func(benchmark string, v reader.Value) {
		if problem := patternProblem(benchmark); problem != "" {
			v.Fault("%s", problem)
		}
		var weight float64
		readNumber(v, 0, 1000, &weight)
		set[benchmark] = weight
	})
	all := maps.Clone(into.Estimate.Weights)
	if _, others := set["*"]; others {
		// Suites that count by default are among the others.
		maps.DeleteFunc(all, func(_ string, weight float64) bool { return weight > 0 })
	}
	maps.Copy(all, set)
	into.Estimate.Weights = all
}
