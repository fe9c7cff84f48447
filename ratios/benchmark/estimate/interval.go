package estimate

import (
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// interval returns the confidence interval of the mean of the pairs that count:
// percentiles of its resamples. If each benchmark has only one score, both ends are
// equal to the ratio.
func interval(of, base *pool, count []pair, ratio float64, s *Settings) (low, high float64) {
	if len(count) == 0 || s.Resamples < 1 {
		return ratio, ratio
	}
	of.resample(s)
	base.resample(s)
	weights := 0.0
	for i := range count {
		weights += count[i].weight
	}
	means := make([]float64, len(count[0].of.draws))
	for i := range count {
		p := &count[i]
		for k := range means {
			means[k] += p.weight / weights * (p.of.draws[k] - p.base.draws[k%len(p.base.draws)])
		}
	}
	slices.Sort(means)
	tail := int((1 - s.Confidence) / 2 * float64(len(means)))
	tail = max(0, min(tail, (len(means)-1)/2))
	return min(ratio, exp(means[tail])), max(ratio, exp(means[len(means)-1-tail]))
}

const (
	// fullyResampled is the number of scores up to which a series is resampled as
	// often as configured. More scores make the interval narrow, and are resampled
	// less often, but at least leastResamples times, which is enough to determine
	// its ends.
	fullyResampled = 64
	leastResamples = 200
)

func (s *Settings) resamples(scores int) int {
	return min(s.Resamples, max(leastResamples, s.Resamples*fullyResampled/max(1, scores)))
}

// resample sets the draws of all series that count. It does so only once.
func (p *pool) resample(s *Settings) {
	if p.resampled {
		return
	}
	p.resampled = true
	names := slices.Sorted(maps.Keys(machines(p.series)))
	index := make(map[string]int, len(names))
	for i, name := range names {
		index[name] = i
	}
	var drawn []*resampler
	longest := 0
	for _, x := range p.series {
		if s.weight(x.benchmark) > 0 {
			drawn = append(drawn, newResampler(x, index))
			longest = max(longest, len(x.scores))
		}
	}
	random := rand.New(rand.NewPCG(seed(p.name), 0))
	weights := make([]float64, len(names))
	for range s.resamples(longest) {
		for i := range weights {
			weights[i] = random.ExpFloat64()
		}
		for _, r := range drawn {
			r.series.draws = append(r.series.draws, math.Log(r.median(weights, random)))
		}
	}
}

// seed returns the same value for a name on every replica.
func seed(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// resampler draws medians of one series.
type resampler struct {
	series *series
	// machine is the index of the machine of each score.
	machine []int
	// several means that a machine has more than one score. Then drawn has the
	// random number of each score, and sums their sum per machine.
	several     bool
	sums, drawn []float64
	weights     []float64
}

func newResampler(x *series, index map[string]int) *resampler {
	r := &resampler{series: x, machine: make([]int, len(x.scores)), weights: make([]float64, len(x.scores))}
	for i, s := range x.scores {
		r.machine[i] = index[s.machine]
	}
	if r.several = len(x.scores) > x.machines; r.several {
		r.sums, r.drawn = make([]float64, len(index)), make([]float64, len(x.scores))
	}
	return r
}

// median returns the median of the scores with these weights of the machines. Scores of the
// same machine share its weight at random.
func (r *resampler) median(weights []float64, random *rand.Rand) float64 {
	total := 0.0
	if r.several {
		clear(r.sums)
		for i, m := range r.machine {
			r.drawn[i] = random.ExpFloat64()
			r.sums[m] += r.drawn[i]
		}
		for i, m := range r.machine {
			r.weights[i] = weights[m] * r.drawn[i] / r.sums[m]
			total += r.weights[i]
		}
	} else {
		for i, m := range r.machine {
			r.weights[i] = weights[m]
			total += weights[m]
		}
	}
	i, j := split(len(r.weights), total, func(i int) float64 { return r.weights[i] })
	return r.series.scores.between(i, j)
}
