package estimate

import (
	"math"
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
	// Interval is the confidence interval of Ratio; nil if it is not known. It covers other
	// machines of the types and other benchmarks like those that were run.
	Interval *Interval
	// certain is the half-width to compare with the tolerance, as a logarithm.
	certain float64
	// busier is how much more of the time of its machines other processes used than of the
	// baseline's.
	busier float64
	// Spread is the standard deviation of the ratios of the benchmarks, as logarithms; 0 if
	// there are fewer than two.
	Spread float64
	// Ends are the ratios between which Ratio lies; nil if they are not known.
	Ends *Ends
	// Own means that node agents measured the machines.
	Own bool
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

// Ends are ratios for machines whose threads share cores: with one busy thread per core, and
// with all threads busy.
type Ends struct{ OneThread, AllThreads float64 }

// Cluster is what estimates need to know about a cluster.
type Cluster struct {
	// Sizes are, by node type and number of vCPUs, the vCPUs in nodes of this size.
	Sizes map[string]map[int]float64
}

// Estimates compares all node types with the baseline, sorted by name. For node types with
// several CPU models, it also compares each model; if there are more than 32, only those with
// the most machines. The other models only count for the node type as a whole. The baseline
// itself is not included. If the baseline is one CPU model (nodetype.WithModel), only samples
// of that model are its measurements. Without a baseline, there are no estimates.
func Estimates(aggregates []Aggregate, baseline string, cluster Cluster, s Settings) []Estimate {
	if baseline == "" {
		return nil
	}
	families := families(aggregates, baseline, &s)
	base, whole := find(families, baseline)
	var differs []Doubt
	if whole != nil {
		differs = modelDoubts(BaselineDiffers, whole, base, &cluster, &s)
	}
	var estimates []Estimate
	for _, f := range families {
		if f.all != base {
			e := compareTo(f.all, base, &cluster, &s)
			e.Models = f.compareModels(base, &cluster, &s)
			e.Doubts = append(e.Doubts, modelDoubts(ModelsDiffer, f, base, &cluster, &s)...)
			estimates = append(estimates, e)
		}
		if len(f.named) < 2 {
			continue
		}
		for _, m := range f.named {
			if m.pool != base {
				e := compareTo(m.pool, base, &cluster, &s)
				e.Models = []Model{m.compareTo(base, &cluster, &s)}
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
func compareTo(of, base *pool, cluster *Cluster, s *Settings) Estimate {
	e := Estimate{NodeType: of.name, Baseline: base.name}
	pair := pairOf(of, base, cluster, s)
	parts := pair.compare()
	e.Own = onlyBest(parts, s)
	for _, p := range parts {
		e.Parts = append(e.Parts, Part{
			Benchmark: p.benchmark, Version: p.version, Ratio: exp(p.ratio), Weight: p.weight,
			Samples: p.samples, Machines: p.machines, BaselineSamples: p.baseSamples, BaselineMachines: p.baseMachines,
		})
	}
	count := counting(parts)
	e.Ratio = mean(count)
	e.Ends = ends(count)
	if len(count) > 1 {
		e.Spread, _ = spread(count)
		e.Interval, e.certain = interval(count, s)
		e.busier = busier(count)
	}
	e.Doubts = append(minima(of, base, count, s), loads(pair, e.Ends)...)
	e.Doubts = append(e.Doubts, uncertainty(&e, s)...)

	tested := of.series
	if len(count) > 0 {
		tested = nil
		for _, p := range count {
			for _, c := range p.cells {
				tested = append(tested, c.of)
			}
		}
	}
	machines := make(map[string]bool)
	for _, x := range tested {
		x.scores.addMachines(machines)
		e.Samples += x.samples
		e.Oldest, e.Newest = earlier(e.Oldest, x.oldest), later(e.Newest, x.newest)
	}
	e.Machines = len(machines)
	return e
}

// ends returns the ends of the ratio, over the benchmarks for which both are known; nil if there
// are none.
func ends(count []part) *Ends {
	var known []part
	for _, p := range count {
		if !math.IsNaN(p.single) {
			known = append(known, p)
		}
	}
	if len(known) == 0 {
		return nil
	}
	return &Ends{
		OneThread:  exp(meanOf(known, func(p *part) float64 { return p.single })),
		AllThreads: exp(meanOf(known, func(p *part) float64 { return p.all })),
	}
}
