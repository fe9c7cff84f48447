package estimate

import "math"

// model is what was fitted: see the documentation of the package.
type model struct {
	types, base int
	// speed is the logarithm of each type's ratio to the baseline; connected means that it is known.
	speed     []float64
	connected []bool
	// covariance is the covariance of speed, without the nodes: not what votes say, but what the workloads do. The baseline's is 0.
	covariance matrix
	// between is the variance of a workload's difference between two types, and freedom its degrees of freedom.
	between, freedom float64
	share            []float64
	workloads        []observed
	// lasts is which part of the variance between replicas remains in means.
	lasts float64
	// numbers is where the matrices and vectors of one workload are kept while they are needed.
	numbers []float64
}

// fit fits the model to the workloads that are not held back.
func fit(all []workload, types, base int, s *Settings) *model {
	m := &model{
		types: types, base: base, speed: make([]float64, types), between: s.Between * s.Between, freedom: s.BetweenWeight,
		share: make([]float64, len(classes)),
	}
	for i := range all { // A model may have been fitted before.
		all[i].place, all[i].judged, all[i].honest = -1, "", 1
	}
	vote(all)
	m.lasts = lasts(all)
	m.connect(all)
	daily := dailyVariance(all, s)
	for i := range all {
		w := &all[i]
		if w.held != "" {
			continue
		}
		if o := m.observe(w, daily); len(w.pairs) > 0 {
			w.place = len(m.workloads)
			m.workloads = append(m.workloads, o)
		} else {
			w.judged = NotConnected
		}
	}
	m.shares()
	const most, least, enough = 25, 6, 1e-5
	for round := range most {
		before := m.between
		changed := m.solve()
		m.spread(s)
		if round >= 2 {
			for i := range m.workloads {
				o := &m.workloads[i]
				m.classify(o)
				o.w.honest = o.class[0]
			}
			m.shares()
		}
		if round >= least && changed < enough && math.Abs(m.between/before-1) < 100*enough {
			break
		}
	}
	m.solve()
	m.judge(all)
	m.invert()
	return m
}

// scratch returns a matrix, a second one and two vectors for the pairs of a workload, valid until the next call.
func (m *model) scratch(n int) (a, b matrix, x, y []float64) {
	if need := 2*n*n + 2*n; len(m.numbers) < need {
		m.numbers = make([]float64, need)
	}
	v := m.numbers
	return matrix{n, v[:n*n]}, matrix{n, v[n*n : 2*n*n]}, v[2*n*n : 2*n*n+n], v[2*n*n+n : 2*n*n+2*n]
}

// solve estimates the speeds, by generalized least squares. It returns by how much any of them changed.
func (m *model) solve() float64 {
	information, right := m.information(1, ratioOf)
	information.factor()
	information.solve(right)
	changed := 0.0
	for t := range right {
		changed = max(changed, math.Abs(right[t]-m.speed[t]))
	}
	m.speed = right
	return changed
}

// invert fills the covariance of the speeds. A workload with half a vote is as uncertain as one with a vote, but matters half as much.
func (m *model) invert() {
	bread, _ := m.information(1, ratioOf)
	bread.factor()
	inverse := bread.invert()
	filling, _ := m.information(2, ratioOf)
	m.covariance = newMatrix(m.types)
	for t := range m.types {
		for u := range m.types {
			if t == m.base || u == m.base || !m.connected[t] || !m.connected[u] {
				filling.set(t, u, 0)
			}
		}
	}
	part, column := make([]float64, m.types), make([]float64, m.types)
	for u := range m.types {
		for t := range m.types {
			column[t] = inverse.at(t, u)
		}
		filling.times(column, part)
		inverse.times(part, column)
		for t := range m.types {
			m.covariance.set(t, u, column[t])
		}
	}
}

// ratioOf returns the ratio of a pair of a workload.
func ratioOf(_ *workload, p *pair) float64 { return p.ratio }

// information returns the normal equations of the speeds, or of what else pairs show, with votes to a power.
func (m *model) information(power float64, shown func(*workload, *pair) float64) (matrix, []float64) {
	information := newMatrix(m.types)
	right := make([]float64, m.types)
	for i := range m.workloads {
		o := &m.workloads[i]
		weight := o.class[0] * math.Pow(o.w.votes, power)
		if weight < 1e-9 {
			continue
		}
		c, inverse, column, _ := m.scratch(len(o.w.pairs))
		o.covariance(c, m.between)
		c.factor()
		c.invertInto(inverse, column)
		for a := range o.w.pairs {
			p := &o.w.pairs[a]
			for b := range o.w.pairs {
				x := inverse.at(a, b) * weight
				q := &o.w.pairs[b]
				right[p.a] -= x * shown(o.w, q)
				right[p.b] += x * shown(o.w, q)
				information.add(p.a, q.a, x)
				information.add(p.b, q.b, x)
				information.add(p.a, q.b, -x)
				information.add(p.b, q.a, -x)
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
	return information, right
}

// spread estimates how much workloads differ: it is the most likely variance. Workloads whose differences are uncertain by
// themselves tell little of it.
func (m *model) spread(s *Settings) {
	sum, count, pairs, squares := 0.0, 0.0, 0.0, 0.0
	for i := range m.workloads {
		o := &m.workloads[i]
		weight := o.class[0] * o.w.votes
		c, inverse, r, x := m.scratch(len(o.w.pairs))
		o.covariance(c, m.between)
		c.factor()
		c.invertInto(inverse, x)
		for j := range o.w.pairs {
			p := &o.w.pairs[j]
			x[j] = p.ratio - m.speed[p.b] + m.speed[p.a]
		}
		inverse.times(x, r)
		own := 0.0
		for a := range r {
			for b := range r {
				sum += weight * m.between * r[a] * o.shares.at(a, b) * r[b]
				own += m.between * inverse.at(a, b) * o.shares.at(b, a)
			}
		}
		count += weight * own
		squares += weight * o.w.votes * own
		pairs += weight * float64(len(r))
	}
	// Votes that are unlike count as fewer workloads with alike votes.
	alike := count / max(squares, 1e-9)
	sum *= alike
	count *= alike * max(1-float64(m.unknowns())/max(alike*pairs, 1e-9), 0)
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
			m.share[k] += m.workloads[i].w.votes * m.workloads[i].class[k]
		}
		total += m.share[k]
	}
	for k := range m.share {
		m.share[k] /= total
	}
}

// predict returns, for the pair of a type and the baseline, the mean of a workload's deviation and its variance. The mean falls
// with speeds: it subtracts by how much, times the part of the workload, from the contrast.
func (o *observed) predict(m *model, kind int, part float64, contrast []float64) (mean, variance float64) {
	half := m.between / 2
	c, _, prior, gain := m.scratch(len(o.w.pairs)) // The prior is the covariance of the deviation and the pairs.
	for i := range o.w.pairs {
		prior[i] = half * (side(&o.w.pairs[i], kind) - side(&o.w.pairs[i], m.base))
	}
	o.covariance(c, m.between)
	c.factor()
	copy(gain, prior)
	c.solve(gain)
	honest := o.class[0]
	for i := range o.w.pairs {
		p := &o.w.pairs[i]
		g := gain[i] * honest
		mean += g * (p.ratio - m.speed[p.b] + m.speed[p.a])
		contrast[p.b] -= part * g
		contrast[p.a] += part * g
	}
	return mean, m.between - honest*dot(prior, gain)
}

// quadratic returns x·covariance·x.
func (m *model) quadratic(x []float64) float64 {
	sum := 0.0
	for i := range x {
		if x[i] == 0 { // A workload runs on few of the types.
			continue
		}
		for j := range x {
			sum += x[i] * x[j] * m.covariance.at(i, j)
		}
	}
	return math.Max(sum, 0)
}
