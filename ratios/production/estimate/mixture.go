package estimate

import "math"

// class is a way in which workloads can behave. A workload of it shows the differences between types multiplied by
// Shown, which change with load by Slope times that difference.
type class struct {
	reason Reason
	shown  float64
	// between is how much workloads differ by themselves: a multiple of the honest ones' variance, plus a variance.
	between, extra float64
	slope, varies  float64
	// follows is with which power of its size a replica does work, and followsVary how much that varies.
	follows, followsVary float64
	// of reports whether a workload can be of the class; nil if all can.
	of func(*workload) bool
	// prior is how many workloads of the class are assumed in addition to those that are classified.
	prior float64
}

// classes are the honest one and those that mislead. Load balancers that follow load give equal shares when idle and
// equal usage when busy; daily waves lie between. CPU that spins is a third of what a wasteful server uses.
var classes = []class{
	{reason: "", shown: 1, between: 1, prior: 30},
	{reason: SameUsage, shown: 0, between: 0, extra: 0.02 * 0.02, prior: 1, of: byShare},
	{reason: SlopeFalls, shown: 0.5, between: 1, slope: -0.6, varies: 0.4, prior: 0.5, of: byShare},
	{reason: SlopeFalls, shown: 0.1, between: 0.5, slope: -0.5, varies: 0.5, prior: 0.5, of: byShare},
	{reason: SlopeRises, shown: 0.7, between: 1, slope: 0.3, varies: 0.2, prior: 0.5, of: byShare},
	{reason: SizesUnlike, shown: 1, between: 1, extra: 0.03 * 0.03, follows: follow, followsVary: followVary, prior: 0.5, of: bySize},
	{reason: Odd, shown: 1, between: 1, extra: 0.3 * 0.3, varies: 0.3, prior: 0.5},
}

// byShare reports whether it matters how a workload's work is shared: not if that is known.
func byShare(w *workload) bool { return !w.known }

// bySize reports whether hours with unlike sizes count although only other workloads show that sizes do not matter.
func bySize(w *workload) bool { return w.merged && w.sizes.squares == 0 }

// can reports whether a workload can be of a class.
func (c *class) can(w *workload) bool { return c.of == nil || c.of(w) }

// classify fills the probabilities of the classes of a workload.
func (m *model) classify(o *observed) {
	most := math.Inf(-1)
	for k := range classes {
		c := &classes[k]
		if !c.can(o.w) {
			o.class[k] = math.Inf(-1)
			continue
		}
		o.class[k] = math.Log(m.share[k]) + m.likelihood(o, c)
		most = max(most, o.class[k])
	}
	sum := 0.0
	for k := range o.class {
		o.class[k] = math.Exp(o.class[k] - most)
		sum += o.class[k]
	}
	for k := range o.class {
		o.class[k] /= sum
	}
}

// likelihood returns the logarithm of the likelihood of what a workload shows, if it is of a class.
func (m *model) likelihood(o *observed, c *class) float64 {
	covariance, _, residual, solved := m.scratch(len(o.w.pairs))
	o.covariance(covariance, m.between*c.between+c.extra)
	for i := range o.w.pairs {
		vary := c.followsVary * o.w.pairs[i].sizes
		covariance.add(i, i, vary*vary)
	}
	determinant := covariance.factor()
	for i := range o.w.pairs {
		p := &o.w.pairs[i]
		residual[i] = p.ratio - c.shown*(m.speed[p.b]-m.speed[p.a]) + c.follows*p.sizes
	}
	copy(solved, residual)
	covariance.solve(solved)
	log := -determinant/2 - dot(residual, solved)/2
	if !o.w.known {
		log += o.slopes(c, m)
	}
	return log
}

// teach fills how certain it is that each workload shares its work evenly, whatever most workloads do.
func (m *model) teach() {
	for i := range m.workloads {
		o := &m.workloads[i]
		honest, rest := m.likelihood(o, &classes[0]), 0.0
		for k := range classes {
			if c := &classes[k]; k > 0 && c.of != nil && c.can(o.w) {
				rest += math.Exp(m.likelihood(o, c) - honest)
			}
		}
		o.w.teaches = o.class[0] * max((1-rest)/(1+rest), 0)
	}
}

// slopes returns the logarithm of the likelihood of the slopes.
func (o *observed) slopes(c *class, m *model) float64 {
	sum := 0.0
	for i := range o.w.pairs {
		p := &o.w.pairs[i]
		if p.weight == 0 {
			continue
		}
		difference := m.speed[p.b] - m.speed[p.a]
		variance := o.daily/p.weight + c.varies*difference*c.varies*difference
		if c.reason == Odd {
			variance += c.varies * c.varies
		}
		d := p.slope - c.slope*difference
		sum -= d*d/(2*variance) + math.Log(variance)/2
	}
	return sum
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
