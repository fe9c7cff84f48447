package estimate

import (
	"slices"
	"strings"
	"time"
)

// Part is the result of one benchmark.
type Part struct {
	Benchmark, Version string
	// Ratio is the ratio to the baseline; above 1 is faster. Weight is the weight
	// before normalization. It is 0 if the benchmark is only shown: either because
	// its weight is 0, or because it has too few samples or machines and enough
	// others have more.
	Ratio, Weight float64
	// Samples and Machines are the numbers for the node type; the others are those
	// for the baseline.
	Samples, Machines                 int
	BaselineSamples, BaselineMachines int
}

// Model is the result for one CPU model of a node type.
type Model struct {
	CPUModel string
	// Ratio is the ratio to the baseline; Machines is the number of machines with
	// the model.
	Ratio    float64
	Machines int
}

// Estimate is how fast a node type is.
type Estimate struct {
	// NodeType is the node type, or one CPU model of it (nodetype.WithModel).
	NodeType string
	// Baseline is the node type of comparison.
	Baseline string
	// Ratio is how many times as fast as the baseline the node type is: the
	// weighted geometric mean of the benchmarks that both have; 0 if they have none
	// in common.
	Ratio float64
	// Low and High are the ends of the confidence interval: Low ≤ Ratio ≤ High.
	//
	// In simulations with a nominal 95%, and noise of 2% per run and 3% per machine,
	// 92 to 98% of the intervals contain the true ratio if both sides have 4 machines
	// or more. It is 84 to 93% with 3 machines and 66 to 78% with 2, which are too
	// few. Intervals of 1 machine are not valid for others (0 to 43%). If only runs
	// differ, and not machines, intervals are wider than necessary.
	Low, High float64
	// Parts are sorted by benchmark.
	Parts []Part
	// Models are the CPU models of the node type, by name. If there are very many,
	// only those with the most machines are included. An unknown model is "".
	Models []Model
	// Samples and Machines are the numbers for the node type that count. While no
	// benchmark can be compared, they include all that were measured.
	Samples, Machines int
	// Oldest and Newest are the times of the oldest and the newest of these samples.
	Oldest, Newest time.Time
	// Doubts are why the estimate must not be applied automatically; empty if it
	// can be.
	Doubts []Doubt
}

// Estimates compares all node types with the baseline, sorted by name. For node types with
// several CPU models, it also compares each model; if there are more than 32, only those with
// the most machines. The other models only count for the node type as a whole. The baseline
// itself is not included. If the baseline is one CPU model (nodetype.WithModel), only samples
// of that model are its measurements. Without a baseline, there are no estimates.
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

// compareTo estimates how fast the machines of a pool are compared to the baseline.
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
