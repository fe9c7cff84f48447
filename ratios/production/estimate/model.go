package estimate

import (
	"math"
	"slices"
)

// observed is a workload that counts, with its place in the model.
type observed struct {
	w *workload
	// types are those that it ran on, and noise the variance of the mean of its replicas on each.
	types []int
	noise []float64
	// daily is the variance of the slope of a day, per weight.
	daily float64
	class []float64
}

// model is what was fitted: see the documentation of the package.
type model struct {
	types, base int
	// speed is the logarithm of each type's ratio to the baseline; connected means that it is known.
	speed     []float64
	connected []bool
	// covariance is the covariance of speed, without the nodes. The baseline's is 0.
	covariance matrix
	// between is the variance of a workload's difference between two types, and freedom its degrees of freedom.
	between, freedom float64
	share            []float64
	workloads        []observed
	// lasts is which part of the variance between replicas remains in means.
	lasts float64
}

// fit fits the model to the workloads that are not held back.
func fit(all []workload, types, base int, s *Settings) *model {
	m := &model{types: types, base: base, speed: make([]float64, types), between: s.Between * s.Between, freedom: s.BetweenWeight}
	m.lasts = lasts(all)
	m.connect(all)
	daily := dailyVariance(all)
	for i := range all {
		w := &all[i]
		if w.held != "" || len(w.pairs) == 0 || !m.connected[w.pairs[0].a] {
			continue
		}
		m.workloads = append(m.workloads, m.observe(w, daily))
	}
	m.share = make([]float64, len(classes))
	m.shares()
	const rounds = 25
	for round := range rounds {
		m.solve()
		m.spread(s)
		if round >= 2 {
			for i := range m.workloads {
				o := &m.workloads[i]
				o.class = m.classify(o)
				o.w.honest = o.class[0]
			}
			m.shares()
		}
	}
	m.solve()
	for i := range m.workloads {
		o := &m.workloads[i]
		if o.class[0] < 0.5 {
			o.w.held = classes[slices.Index(o.class, slices.Max(o.class))].reason
		}
	}
	return m
}

// connect finds the types that workloads compare with the baseline, directly or through others.
func (m *model) connect(all []workload) {
	m.connected = make([]bool, m.types)
	m.connected[m.base] = true
	for changed := true; changed; {
		changed = false
		for i := range all {
			if all[i].held != "" {
				continue
			}
			for _, p := range all[i].pairs {
				if m.connected[p.a] != m.connected[p.b] {
					m.connected[p.a], m.connected[p.b], changed = true, true, true
				}
			}
		}
	}
}

// lasts returns which part of the variance between replicas remains in the mean over all hours: what
// does not show over time.
func lasts(all []workload) float64 {
	seen, total := 0.0, 0.0
	for i := range all {
		if all[i].held != "" {
			continue
		}
		for j := range all[i].pairs {
			p := &all[i].pairs[j]
			total += all[i].spread * p.each()
			seen += p.over
		}
	}
	if total == 0 {
		return 1
	}
	return max(1-seen/total, 0)
}

// dailyVariance returns the variance of the slope of a day, per weight: what most workloads have.
func dailyVariance(all []workload) float64 {
	var variances []float64
	for i := range all {
		for j := range all[i].pairs {
			if p := &all[i].pairs[j]; p.days >= 3 {
				variances = append(variances, p.squares/(p.days-1))
			}
		}
	}
	return max(median(variances), 1e-4)
}

func (m *model) observe(w *workload, daily float64) observed {
	o := observed{w: w, class: make([]float64, len(classes)), daily: daily}
	o.class[0] = 1
	squares, days := 0.0, 0.0
	// What remains of the spread: the workload's own share of it, drawn toward that of all.
	const drawn = 14 * lasting
	own, hours := 0.0, 0.0
	for i := range w.pairs {
		p := &w.pairs[i]
		squares += p.squares
		days += max(p.days-1, 0)
		own += (1 - p.over/max(w.spread*p.each(), 1e-9)) * p.hours
		hours += p.hours
	}
	const usualDays = 10
	o.daily = (squares + usualDays*daily) / (days + usualDays)
	part := (own + drawn*m.lasts) / (hours + drawn)
	for i := range w.pairs {
		p := &w.pairs[i]
		floor := 1 / (1 + p.hours/(lasting/2))
		for side, kind := range [2]int{p.a, p.b} {
			at := slices.Index(o.types, kind)
			noise := w.spread * min(max(part, floor), 1) / p.replicas[side]
			if at < 0 {
				o.types, o.noise = append(o.types, kind), append(o.noise, noise)
			} else {
				o.noise[at] = max(o.noise[at], noise)
			}
		}
	}
	return o
}

// covariance returns that of the pairs of a workload.
func (o *observed) covariance(between float64) matrix {
	c := newMatrix(len(o.w.pairs))
	for i := range o.w.pairs {
		for j := range o.w.pairs {
			p, q := &o.w.pairs[i], &o.w.pairs[j]
			x := 0.0
			for t, kind := range o.types {
				x += side(p, kind) * side(q, kind) * (between/2 + o.noise[t])
			}
			if i == j {
				x += 1e-6
				if len(o.w.pairs) >= len(o.types) {
					// Pairs in a circle were compared in different hours, so that they do not add up to 0 exactly.
					x += o.w.spread * p.each() * min(lasting/p.hours, 1)
				}
			}
			c.set(i, j, x)
		}
	}
	return c
}

// side returns how a type counts in a pair.
func side(p *pair, kind int) float64 {
	switch kind {
	case p.a:
		return -1
	case p.b:
		return 1
	}
	return 0
}

// solve estimates the speeds, by generalized least squares.
func (m *model) solve() {
	information := newMatrix(m.types)
	right := make([]float64, m.types)
	for i := range m.workloads {
		o := &m.workloads[i]
		inverse := o.inverse(m)
		for a := range o.w.pairs {
			for b := range o.w.pairs {
				x := inverse.at(a, b) * o.class[0]
				p, q := &o.w.pairs[a], &o.w.pairs[b]
				for _, s := range [2]int{p.a, p.b} {
					for _, t := range [2]int{q.a, q.b} {
						information.add(s, t, x*side(p, s)*side(q, t))
					}
					right[s] += x * side(p, s) * q.ratio
				}
			}
		}
	}
	for t := range m.types {
		if t == m.base || !m.connected[t] {
			for u := range m.types {
				information.set(t, u, 0)
				information.set(u, t, 0)
			}
			information.set(t, t, 1)
			right[t] = 0
		}
	}
	information.factor()
	information.solve(right)
	m.speed = right
	m.covariance = information.invert()
	for t := range m.types {
		if t == m.base || !m.connected[t] {
			m.covariance.set(t, t, 0)
		}
	}
}

func (o *observed) inverse(m *model) matrix {
	c := o.covariance(m.between)
	c.factor()
	return c.invert()
}

// spread estimates how much workloads differ: as much as makes their residuals as large as expected.
func (m *model) spread(s *Settings) {
	sum, count := 0.0, -float64(m.unknowns())
	for i := range m.workloads {
		o := &m.workloads[i]
		c := o.covariance(m.between)
		c.factor()
		r := make([]float64, len(o.w.pairs))
		for j := range o.w.pairs {
			p := &o.w.pairs[j]
			r[j] = p.ratio - m.speed[p.b] + m.speed[p.a]
		}
		x := append([]float64(nil), r...)
		c.solve(x)
		sum += o.class[0] * dot(r, x)
		count += o.class[0] * float64(len(o.w.pairs))
	}
	count = max(count, 0)
	m.freedom = count + s.BetweenWeight
	prior := s.Between * s.Between
	m.between *= (sum + s.BetweenWeight*prior/m.between) / m.freedom
	m.between = min(max(m.between, 0.01*0.01), 1)
}

// unknowns returns how many speeds are estimated.
func (m *model) unknowns() int {
	n := 0
	for t, connected := range m.connected {
		if connected && t != m.base {
			n++
		}
	}
	return n
}

// shares estimates how many workloads behave like each class.
func (m *model) shares() {
	total := 0.0
	for k := range classes {
		m.share[k] = classes[k].prior
		for i := range m.workloads {
			m.share[k] += m.workloads[i].class[k]
		}
		total += m.share[k]
	}
	for k := range m.share {
		m.share[k] /= total
	}
}

// predict returns, for the pair of a type and the baseline, the mean of a workload's deviation, its variance, and how
// the mean falls with each speed.
func (o *observed) predict(m *model, kind int) (mean, variance float64, falls []float64) {
	falls = make([]float64, m.types)
	half := m.between / 2
	prior := make([]float64, len(o.w.pairs)) // The covariance of the deviation and the pairs.
	for i := range o.w.pairs {
		prior[i] = half * (side(&o.w.pairs[i], kind) - side(&o.w.pairs[i], m.base))
	}
	c := o.covariance(m.between)
	c.factor()
	gain := append([]float64(nil), prior...)
	c.solve(gain)
	honest := o.class[0]
	for i := range o.w.pairs {
		p := &o.w.pairs[i]
		g := gain[i] * honest
		mean += g * (p.ratio - m.speed[p.b] + m.speed[p.a])
		falls[p.b] += g
		falls[p.a] -= g
	}
	return mean, m.between - honest*dot(prior, gain), falls
}

// quadratic returns x·covariance·x.
func (m *model) quadratic(x []float64) float64 {
	sum := 0.0
	for i := range x {
		for j := range x {
			sum += x[i] * x[j] * m.covariance.at(i, j)
		}
	}
	return math.Max(sum, 0)
}
