package estimate

import (
	"slices"
	"strings"
	"time"
)

// Part is what one benchmark says.
type Part struct {
	Benchmark, Version string
	// Ratio to the baseline; above 1 is faster. Weight is its share before
	// they are made to sum up to 1; 0 if it is only shown, since that is its
	// weight or since others have more samples and machines and suffice.
	Ratio, Weight float64
	// Samples and Machines of the node type, and of the baseline.
	Samples, Machines                 int
	BaselineSamples, BaselineMachines int
}

// Model is what one CPU model of a node type comes to.
type Model struct {
	CPUModel string
	// Ratio is to the baseline; Machines are those with the model.
	Ratio    float64
	Machines int
}

// Estimate is how fast a node type is.
type Estimate struct {
	// NodeType is the type, or that of one CPU model of it (nodetype.WithModel).
	NodeType string
	// Baseline is what it is compared to.
	Baseline string
	// Ratio is how many times as fast as the baseline: the weighted geometric
	// mean of the benchmarks that both have; 0 if they share none.
	Ratio float64
	// Low and High are the ends of the confidence interval: Low ≤ Ratio ≤ High.
	//
	// Of a nominal 95 %, in simulations with noise of 2 % per run and 3 % per
	// machine, 92 to 98 % of the intervals have the true ratio in them with 4
	// machines or more on both sides, 84 to 93 % with 3, and 66 to 78 % with 2,
	// which have seen too little. Those of 1 machine say nothing of others (0 to
	// 43 %). Where only runs differ, not machines, intervals are wider than they
	// had to be.
	Low, High float64
	// Parts by benchmark.
	Parts []Part
	// Models of the node type, by name, of very many those with the most machines;
	// those whose model is unknown have "".
	Models []Model
	// Samples and Machines of the node type that count; while no benchmark can be
	// compared, all that were measured.
	Samples, Machines int
	// Oldest and Newest are of these samples.
	Oldest, Newest time.Time
	// Doubts are why the estimate is not good enough to be applied by itself;
	// empty if it is.
	Doubts []Doubt
}

// Estimates compares all node types with the baseline, by name; also each CPU
// model of a node type that has several, of more than 32 those with the most
// machines. The others count for the type as a whole. The baseline itself is not among them.
// It may be that of one CPU model (nodetype.WithModel): then only the samples of
// that model are compared with. Without a baseline there are no estimates.
func Estimates(aggregates []Aggregate, baseline string, s Settings) []Estimate {
	if baseline == "" {
		return nil
	}
	families := families(aggregates, baseline, &s)
	base, whole := find(families, baseline)
	var differs []Doubt
	if whole != nil {
		differs = modelDoubts(BaselineDiffers, whole, base, &s)
	}
	var estimates []Estimate
	for _, f := range families {
		if f.all != base {
			e := compareTo(f.all, base, &s)
			e.Models = f.compareModels(base, &s)
			e.Doubts = append(e.Doubts, modelDoubts(ModelsDiffer, f, base, &s)...)
			estimates = append(estimates, e)
		}
		if len(f.named) < 2 {
			continue
		}
		for _, m := range f.named {
			if m.pool != base {
				e := compareTo(m.pool, base, &s)
				e.Models = []Model{m.compareTo(base, &s)}
				estimates = append(estimates, e)
			}
		}
	}
	for i := range estimates {
		estimates[i].Doubts = append(estimates[i].Doubts, differs...)
	}
	slices.SortFunc(estimates, func(a, b Estimate) int { return strings.Compare(a.NodeType, b.NodeType) })
	return estimates
}

// compareTo estimates how fast the machines of a pool are.
func compareTo(of, base *pool, s *Settings) Estimate {
	e := Estimate{NodeType: of.name, Baseline: base.name}
	pairs := compare(of, base, s)
	for _, p := range pairs {
		e.Parts = append(e.Parts, Part{
			Benchmark: p.of.benchmark, Version: p.of.version, Ratio: exp(p.ratio()), Weight: p.weight,
			Samples: p.of.samples, Machines: p.of.machines,
			BaselineSamples: p.base.samples, BaselineMachines: p.base.machines,
		})
	}
	count := counting(pairs)
	e.Ratio = mean(count)
	e.Low, e.High = interval(of, base, count, e.Ratio, s)
	e.Doubts = append(minima(of, base, count, s), disagreement(count, s)...)
	e.Doubts = append(e.Doubts, uncertainty(e.Low, e.High, s)...)

	tested := of.series
	if len(count) > 0 {
		tested = nil
		for _, p := range count {
			tested = append(tested, p.of)
		}
	}
	e.Machines = len(machines(tested))
	for _, x := range tested {
		e.Samples += x.samples
		e.Oldest, e.Newest = earlier(e.Oldest, x.oldest), later(e.Newest, x.newest)
	}
	return e
}
