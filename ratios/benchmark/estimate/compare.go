package estimate

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// cell compares one size of machines in one benchmark.
type cell struct {
	of   *series
	base []share
	// weight is the share of the size; the weights of a part sum to 1.
	weight float64
}

// part is one benchmark that two pools have in common, in the version to compare.
type part struct {
	benchmark, version string
	own                bool
	cells              []cell
	// weight is 0 if the benchmark is only shown.
	weight float64
	// enough means that both sides have enough samples and machines.
	enough bool
	// ratio is the logarithm of how many times as fast the first pool is, at its load. all
	// and single are those with all threads busy and with one busy thread per core; single
	// is NaN if it is not known.
	ratio, all, single float64
	// busier is how much more of the time of the first pool's machines other processes used.
	busier                    float64
	samples, machines         int
	baseSamples, baseMachines int
	newest                    time.Time
}

// pairing is what compare needs to know about two pools.
type pairing struct {
	of, base *pool
	sizes    map[int]float64
	settings *Settings
	// load and baseLoad are the loads at which speeds are compared: 1 unless both are known.
	load, baseLoad float64
	// differ means that the machines have different threads per core, and unknown that a load
	// would be needed.
	differ, unknown bool
}

// pairOf returns the pairing of two pools. Machines without threads that share a core have the
// same speed at any load.
func pairOf(of, base *pool, cluster *Cluster, s *Settings) *pairing {
	p := &pairing{of: of, base: base, sizes: cluster.Sizes[of.nodeType()], settings: s, load: 1, baseLoad: 1}
	p.differ = of.threadsPerCore > 0 && base.threadsPerCore > 0 && of.threadsPerCore != base.threadsPerCore
	a, known := s.load(of)
	b, both := s.load(base)
	if known && both {
		p.load, p.baseLoad = a, b
	}
	p.unknown = p.differ && (!known || !both)
	return p
}

// load returns the share of the busy time of a thread in which its sibling is busy, too; false if
// it is not known.
func (s *Settings) load(p *pool) (float64, bool) {
	if p.threadsPerCore == 1 {
		return 1, true
	}
	for _, name := range []string{p.name, p.nodeType(), "*"} {
		if load, ok := s.Loads[name]; ok {
			return load, true
		}
	}
	return 1, false
}

// compare returns the benchmarks that two pools have in common, one part per benchmark, by name.
//
// Once there are enough other parts, parts with too few samples or machines are shown but do
// not count: one row of a new feed neither moves a ratio nor holds it back. Until then, they
// count, and the estimate is shown but held back.
func (p *pairing) compare() []part {
	ofTests, baseTests := p.of.tests(), p.base.tests()
	var parts []part
	for _, name := range tests(p.of.series) {
		baseSeries := baseTests[name]
		if len(baseSeries) == 0 {
			continue
		}
		next := p.part(name, ofTests[name], baseSeries)
		if len(next.cells) == 0 {
			continue
		}
		last := len(parts) - 1
		switch {
		case last < 0 || parts[last].benchmark != next.benchmark:
			parts = append(parts, next)
		case next.better(&parts[last]):
			parts[last] = next
		}
	}
	if countEnough(parts) >= p.settings.benchmarks() {
		for i := range parts {
			if !parts[i].enough {
				parts[i].weight = 0
			}
		}
	}
	return parts
}

// tests returns the tests of series without their size, in their order.
func tests(of []*series) []test {
	var all []test
	for _, x := range of {
		t := test{benchmark: x.benchmark, version: x.version}
		if len(all) == 0 || all[len(all)-1] != t {
			all = append(all, t)
		}
	}
	return all
}

// tests returns the series of each test by size.
func (p *pool) tests() map[test][]*series {
	all := make(map[test][]*series)
	for _, x := range p.series {
		t := test{benchmark: x.benchmark, version: x.version}
		all[t] = append(all[t], x)
	}
	return all
}

// part compares one version of a benchmark.
func (p *pairing) part(t test, of, base []*series) part {
	next := part{benchmark: t.benchmark, version: t.version, own: of[0].own, cells: cells(of, base), weight: p.settings.weight(t.benchmark)}
	sizes := make([]int, len(next.cells))
	for i, c := range next.cells {
		sizes[i] = c.of.vcpus
	}
	ofMachines, baseMachines := make(map[string]bool), make(map[string]bool)
	seen := make(map[*series]bool)
	for i, weight := range sizeWeights(sizes, p.sizes) {
		c := &next.cells[i]
		c.weight = weight
		next.samples += c.of.samples
		c.of.scores.addMachines(ofMachines)
		newest := c.of.newest
		one := p.of.oneThread(c.of)
		ratio, all, single, busier := p.of.atLoad(c.of, p.load), c.of.all, one, c.of.load
		for _, b := range c.base {
			ratio -= b.weight * p.base.atLoad(b.series, p.baseLoad)
			all -= b.weight * b.all
			single -= b.weight * p.base.oneThread(b.series)
			busier -= b.weight * b.load
			newest = earlier(newest, b.newest)
			if !seen[b.series] {
				seen[b.series] = true
				next.baseSamples += b.samples
				b.scores.addMachines(baseMachines)
			}
		}
		if math.IsNaN(ratio) && !p.differ {
			ratio = all // The ends are nearly equal for machines of the same kind.
		}
		next.ratio += weight * ratio
		next.all += weight * all
		next.single += weight * single
		next.busier += weight * busier
		next.newest = later(next.newest, newest)
	}
	next.machines, next.baseMachines = len(ofMachines), len(baseMachines)
	next.enough = p.settings.enough(&next)
	if math.IsNaN(next.ratio) { // Its speed at this load is not known.
		next.ratio, next.weight = next.all, 0
	}
	return next
}

// cells pairs equal sizes. If there are none, it pairs each size with the nearest ones.
func cells(of, base []*series) []cell {
	var equal, near []cell
	for _, x := range of {
		i, found := slices.BinarySearchFunc(base, x.vcpus, func(b *series, n int) int { return cmp.Compare(b.vcpus, n) })
		if found {
			equal = append(equal, cell{of: x, base: []share{{base[i], 1}}})
		} else if shares := nearest(base, x.vcpus); shares != nil {
			near = append(near, cell{of: x, base: shares})
		}
	}
	if len(equal) > 0 {
		return equal
	}
	return near
}

// enough reports whether a part has enough samples and machines. Publishers measure one machine
// of each type and size, often once.
func (s *Settings) enough(p *part) bool {
	return !p.own || min(p.samples, p.baseSamples) >= s.MinSamples && min(p.machines, p.baseMachines) >= s.MinMachines
}

// better reports whether p is the better version of a benchmark to compare: the version with
// enough samples and machines, then with more samples on the side that has fewer, then the
// newer one.
func (p *part) better(other *part) bool {
	if p.enough != other.enough {
		return p.enough
	}
	return cmp.Or(
		cmp.Compare(min(p.samples, p.baseSamples), min(other.samples, other.baseSamples)),
		p.newest.Compare(other.newest),
		cmp.Compare(p.version, other.version)) > 0
}

// countEnough counts the benchmarks that have enough samples and machines, and a weight.
func countEnough(parts []part) int {
	n := 0
	for i := range parts {
		if parts[i].enough && parts[i].weight > 0 {
			n++
		}
	}
	return n
}

// counting returns the parts that count: the others are only shown.
func counting(parts []part) []part {
	var counting []part
	for _, p := range parts {
		if p.weight > 0 {
			counting = append(counting, p)
		}
	}
	return counting
}

// onlyBest leaves only the parts of the agents a weight if they are enough, or else only
// published ones. The agents have measured the cluster's own machines, and a mean of both would
// have no common idea of how far machines differ.
func onlyBest(parts []part, s *Settings) (own bool) {
	var measured, published []part
	for _, p := range counting(parts) {
		if p.own {
			measured = append(measured, p)
		} else {
			published = append(published, p)
		}
	}
	own = countEnough(measured) >= s.benchmarks() || len(published) < s.benchmarks() && len(measured) > 0
	for i := range parts {
		if parts[i].own != own {
			parts[i].weight = 0
		}
	}
	return own
}

func totalWeight(parts []part) float64 {
	sum := 0.0
	for i := range parts {
		sum += parts[i].weight
	}
	return sum
}

// meanLog returns the weighted mean of the ratios of parts, as a logarithm.
func meanLog(parts []part) float64 {
	return meanOf(parts, func(p *part) float64 { return p.ratio })
}

func meanOf(parts []part, value func(*part) float64) float64 {
	sum := 0.0
	for i := range parts {
		sum += parts[i].weight * value(&parts[i])
	}
	return sum / totalWeight(parts)
}

// mean returns the weighted geometric mean of the ratios of parts; 0 if there are none.
func mean(parts []part) float64 {
	if len(parts) == 0 {
		return 0
	}
	return exp(meanLog(parts))
}

// exp always returns a finite number above 0, regardless of the scores.
func exp(log float64) float64 { return math.Exp(max(-700, min(log, 700))) }
