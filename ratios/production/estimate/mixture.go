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
	// prior is how many workloads of the class are assumed in addition to those that are classified.
	prior float64
}

// classes are the honest one and those that mislead. Load balancers that follow load give equal shares when idle and
// equal usage when busy; daily waves lie between. CPU that spins is a third of what a wasteful server uses.
var classes = []class{
	{reason: "", shown: 1, between: 1, prior: 30},
	{reason: SameUsage, shown: 0, between: 0, extra: 0.02 * 0.02, prior: 1},
	{reason: SlopeFalls, shown: 0.5, between: 1, slope: -0.6, varies: 0.4, prior: 0.5},
	{reason: SlopeFalls, shown: 0.1, between: 0.5, slope: -0.5, varies: 0.5, prior: 0.5},
	{reason: SlopeRises, shown: 0.7, between: 1, slope: 0.3, varies: 0.2, prior: 0.5},
	{reason: Odd, shown: 1, between: 1, extra: 0.3 * 0.3, varies: 0.3, prior: 0.5},
}

// classify returns the probabilities of the classes.
func (m *model) classify(o *observed) []float64 {
	logs := make([]float64, len(classes))
	most := math.Inf(-1)
	for k := range classes {
		c := &classes[k]
		covariance := o.covariance(m.between*c.between + c.extra)
		determinant := covariance.factor()
		residual := make([]float64, len(o.w.pairs))
		for i := range o.w.pairs {
			p := &o.w.pairs[i]
			residual[i] = p.ratio - c.shown*(m.speed[p.b]-m.speed[p.a])
		}
		solved := append([]float64(nil), residual...)
		covariance.solve(solved)
		logs[k] = math.Log(m.share[k]) - determinant/2 - dot(residual, solved)/2
		if !o.w.known {
			logs[k] += o.slopes(c, m)
		}
		most = max(most, logs[k])
	}
	sum := 0.0
	for k := range logs {
		logs[k] = math.Exp(logs[k] - most)
		sum += logs[k]
	}
	for k := range logs {
		logs[k] /= sum
	}
	return logs
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
