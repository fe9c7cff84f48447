package settings

import (
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/reader"
)

const day = 24 * time.Hour

// keys are all keys of the settings.
var keys = []key[Settings]{
	{"mode", "for node types that `nodeTypes` does not name: `observe` only shows measured ratios, `apply` makes them the ratios of the `benchmark` source", "`observe` or `apply`", string(Defaults().Default),
		func(v reader.Value, into *Settings) { readMode(v, &into.Default) }},
	{"nodeTypes", "the mode of one node type, e.g. `n4: {mode: apply}`; `\"e2@Intel-6-79\"` is one CPU model of `e2`", "by node type", "", readModes},

	gone("aggregation.minSamples", "remove it: a benchmark of the node agent needs 3 samples"),
	number("aggregation.minMachines", 1, 1000, func(s *Settings) *int { return &s.Estimate.MinMachines }, "minimum number of machines per benchmark of the node agent; with fewer, ratios are only shown"),
	number("aggregation.minBenchmarks", 1, 100, func(s *Settings) *int { return &s.Estimate.MinBenchmarks }, "minimum number of benchmarks with enough samples and machines"),
	number("aggregation.tolerancePublished", 0.001, 1, func(s *Settings) *float64 { return &s.Estimate.TolerancePublished }, "maximum half-width of the confidence interval of a ratio from published scores, as a fraction of the ratio"),
	number("aggregation.toleranceMeasured", 0.001, 1, func(s *Settings) *float64 { return &s.Estimate.ToleranceMeasured }, "the same for a ratio from measurements of the node agent"),
	gone("aggregation.maxModelSpread", "remove it: the CPU models of a node type may differ by 10%; nodeTypes can name a single model"),
	gone("aggregation.outliersFrom", "remove it: outliers are dropped from 5 samples on"),
	gone("aggregation.outlierDeviations", "remove it: an outlier is more than 3.5 scaled median absolute deviations from the median"),
	gone("aggregation.maxAgePublished", "remove it: published scores count for 3 years"),
	gone("aggregation.maxAgeMeasured", "remove it: measurements of the node agent count for 90 days"),
	gone("aggregation.confidence", "remove it: the confidence level is 95%; set aggregation.tolerancePublished or toleranceMeasured"),
	gone("aggregation.prior", "remove it: machines of one type and size are assumed to differ by 2%"),

	{"loads", "share of the busy time of a thread in which its sibling is busy, too, e.g. `n2d: 0.4`; `\"*\"` is for other node types; needed if threads per core differ", "by node type, 0 to 1", "", readLoads},
	{"weights", "weight of a suite relative to others; with 0, it is only shown; a name may end in `*`; the longest match applies, or else 1; extends the table of suites; `\"*\"` replaces all its weights above 0", "by suite, 0 to 1000", "the table of suites", readWeights},

	number("changes.deadBand", 0, 0.5, func(s *Settings) *float64 { return &s.Pace.DeadBand }, "relative difference between the benchmarks and the current ratio up to which the ratio does not change"),
	number("changes.windows", 1, 100, func(s *Settings) *int { return &s.Pace.Windows }, "number of consecutive hours that must confirm a change"),
	gone("changes.window", "remove it: a window is an hour; set changes.windows"),
	number("changes.maxStepPerHour", 0.001, 1, func(s *Settings) *float64 { return &s.Pace.MaxStepPerHour }, "maximum relative change in a ratio per hour"),
	number("changes.min", 0.01, 1, func(s *Settings) *float64 { return &s.Pace.Min }, "minimum ratio to the baseline"),
	number("changes.max", 1, 100, func(s *Settings) *float64 { return &s.Pace.Max }, "maximum ratio to the baseline"),

	gone("samples.perKey", "remove it: the newest 64 samples are kept"),

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
