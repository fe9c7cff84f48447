package estimate

import "slices"

// observed is a workload that counts, with its place in the model.
type observed struct {
	w *workload
	// types are those that it ran on, noise is the variance of the mean of its replicas on each, and replicas the smallest number of them
	// in a pair.
	types           []int
	noise, replicas []float64
	// fixed is the covariance of the pairs without the deviations of workloads, and shares is that per variance between workloads.
	fixed, shares matrix
	// daily is the variance of the slope of a day, per weight.
	daily float64
	class []float64
}

// observe returns a workload with the pairs that are connected with the baseline: others would have nothing to be compared with.
func (m *model) observe(w *workload, daily float64) observed {
	w.pairs = slices.DeleteFunc(slices.Clone(w.compared), func(p pair) bool { return !m.connected[p.a] })
	o := observed{w: w, class: make([]float64, len(classes)), daily: daily}
	o.class[0] = 1
	squares, days := 0.0, 0.0
	// The rest of the spread in means: the workload's own share of it, drawn toward that of all.
	const drawn = 14 * lasting
	own, hours := 0.0, 0.0
	for i := range w.pairs {
		p := &w.pairs[i]
		squares += p.squares
		days += max(p.days-1, 0)
		if p.apart == 0 {
			own += (1 - p.over/max(w.spread*p.each(), 1e-9)) * p.hours
			hours += p.hours
		}
	}
	const usualDays = 10
	o.daily = (squares + usualDays*daily) / (days + usualDays)
	part := (own + drawn*m.lasts) / (hours + drawn)
	for i := range w.pairs {
		if p := &w.pairs[i]; p.apart == 0 {
			floor := 1 / (1 + p.hours/(lasting/2))
			for side, kind := range [2]int{p.a, p.b} {
				at := o.at(kind, p.replicas[side])
				o.noise[at] = max(o.noise[at], w.spread*min(max(part, floor), 1)/p.replicas[side])
			}
		}
	}
	o.observeDays()
	o.fill()
	return o
}

// at returns the place of a type that it ran on with a number of replicas.
func (o *observed) at(kind int, replicas float64) int {
	at := slices.Index(o.types, kind)
	if at < 0 {
		o.types, o.noise, o.replicas = append(o.types, kind), append(o.noise, 0), append(o.replicas, replicas)
		at = len(o.types) - 1
	}
	o.replicas[at] = min(o.replicas[at], replicas)
	return at
}

// observeDays adds the pairs whose types were compared on different days. A day on a type is compared with days on all others, so that they
// have its deviation in common.
func (o *observed) observeDays() {
	for i := range o.w.pairs {
		if p := &o.w.pairs[i]; p.apart > 0 {
			for side, kind := range [2]int{p.a, p.b} {
				if at := o.at(kind, p.replicas[side]); o.noise[at] == 0 || o.noise[at] > p.apart/2 {
					o.noise[at] = p.apart / 2
				}
			}
		}
	}
}

// rest returns what is left of the variance of a pair besides that of its types: it was compared on fewer days than they were, or on others
// than those of pairs that it makes a circle with.
func (o *observed) rest(p *pair, circle bool) float64 {
	const others = 0.25
	rest := p.apart - o.noise[slices.Index(o.types, p.a)] - o.noise[slices.Index(o.types, p.b)]
	if circle {
		rest = max(rest, others*p.apart)
	}
	return max(rest, 0)
}

// fill fills the parts of the covariance of the pairs.
func (o *observed) fill() {
	o.fixed, o.shares = newMatrix(len(o.w.pairs)), newMatrix(len(o.w.pairs))
	for i := range o.w.pairs {
		for j := range o.w.pairs {
			p, q := &o.w.pairs[i], &o.w.pairs[j]
			for t, kind := range o.types {
				both := side(p, kind) * side(q, kind)
				o.shares.add(i, j, both/2)
				o.fixed.add(i, j, both*o.noise[t])
			}
			if i == j {
				circle := len(o.w.pairs) >= len(o.types)
				o.fixed.add(i, j, 1e-6+o.rest(p, circle))
				if circle && p.apart == 0 {
					// Pairs in a circle were compared in different hours, so that they do not add up to 0 exactly.
					o.fixed.add(i, j, o.w.spread*p.each()*min(lasting/p.hours, 1))
				}
			}
		}
	}
}

// covariance fills a matrix with the covariance of the pairs of a workload.
func (o *observed) covariance(into matrix, between float64) {
	for i := range into.v {
		into.v[i] = o.fixed.v[i] + between*o.shares.v[i]
	}
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

// lasts returns which part of the variance between replicas remains in the mean over all hours: what
// does not show over time.
func lasts(all []workload) float64 {
	seen, total := 0.0, 0.0
	for i := range all {
		if all[i].held != "" {
			continue
		}
		for j := range all[i].compared {
			p := &all[i].compared[j]
			if p.apart > 0 {
				continue
			}
			total += all[i].votes * all[i].spread * p.each()
			seen += all[i].votes * p.over
		}
	}
	if total == 0 {
		return 1
	}
	return max(1-seen/total, 0)
}

const (
	// wave is the variance of the slope of a day, per weight and per variance of the difference in an hour, where too few days tell: deviations that
	// last for hours look like a daily wave. It counts as much as waveWeight degrees of freedom.
	wave, waveWeight = 3.5, 10
)

// dailyVariance returns the variance of the slope of a day, per weight: what most workloads have.
func dailyVariance(all []workload, s *Settings) float64 {
	var variances, noise weighted
	freedom := 0.0
	for i := range all {
		w := &all[i]
		if w.held != "" {
			continue
		}
		for j := range w.compared {
			p := &w.compared[j]
			if p.apart == 0 {
				noise.add(w.spread*p.each(), w.votes)
			}
			if p.days >= s.MinDays {
				variances.add(p.squares/(p.days-1), w.votes)
				freedom += w.votes * (p.days - 1)
			}
		}
	}
	return max((waveWeight*wave*noise.median()+freedom*variances.median())/(waveWeight+freedom), 1e-4)
}
