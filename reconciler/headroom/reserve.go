package headroom

import (
	"math"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Reserve is how much of the rests of a node is kept.
type Reserve uint8

const (
	// Largest keeps the largest rest of a pod, as if only one pod needs its peak at a time.
	Largest Reserve = iota
	// Independent keeps the root of the sum of the squares of the rests of workloads: those of a workload come together, and
	// those of different workloads by chance.
	Independent
)

// Rules are how the reserve of each resource of a node follows from the rests of its pods, by sizing.Measure.Index.
type Rules [len(sizing.Measures)]Rule

// Rule is how the reserve of a resource follows.
type Rule struct {
	Reserve Reserve
	// Correlation is how much the usage of different workloads rises and falls together, from 0 to 1, for Independent. At
	// 1, all rests are kept.
	Correlation float64
}

// Sum is the sum over the pods of a node. The zero value is empty.
type Sum struct {
	// Steady is the sum of steady demands, Rests that of the rests, and Uses that of what containers use now.
	Steady, Rests, Uses Amounts
	// largest has the largest rest of a pod, and squares the sum of the squares of the rests of workloads.
	largest   Amounts
	squares   [len(sizing.Measures)]float64
	workloads map[string]Amounts
}

// Add adds the containers of a pod.
func (s *Sum) Add(workload string, containers ...Demand) {
	steady, rests := total(containers)
	before := s.workloads[workload]
	s.add(steady, rests, before)
	for i := range containers {
		s.Uses = s.Uses.plus(containers[i].uses())
	}
	if rests != (Amounts{}) {
		if s.workloads == nil {
			s.workloads = map[string]Amounts{}
		}
		s.workloads[workload] = before.plus(rests)
	}
}

// With returns the sum with another pod, which no other pod can be added to.
func (s *Sum) With(workload string, containers ...Demand) Sum {
	with := *s
	steady, rests := total(containers)
	with.add(steady, rests, s.workloads[workload])
	with.workloads = nil
	return with
}

// total returns the steady demand and the rest of a pod.
func total(containers []Demand) (steady, rests Amounts) {
	for i := range containers {
		for _, m := range sizing.Measures {
			steady[m.Index] = min(steady[m.Index]+containers[i].steady(m), m.Most)
			rests[m.Index] = min(rests[m.Index]+containers[i].rest(m), m.Most)
		}
	}
	return steady, rests
}

// add adds a pod of a workload whose pods had these rests before.
func (s *Sum) add(steady, rests, before Amounts) {
	s.Steady, s.Rests = s.Steady.plus(steady), s.Rests.plus(rests)
	for i, rest := range rests {
		s.largest[i] = max(s.largest[i], rest)
		// The difference of the squares, as a product: differences of large squares lose the small ones.
		s.squares[i] += float64(rest) * (2*float64(before[i]) + float64(rest))
	}
}

// Of returns how much of the rests is kept, of each resource.
func (r Rules) Of(s *Sum) (reserve Amounts) {
	for _, m := range sizing.Measures {
		rests := float64(s.Rests[m.Index])
		kept := float64(s.largest[m.Index])
		if rule := r[m.Index]; rule.Reserve == Independent {
			together := fraction(rule.Correlation)
			kept = math.Sqrt((1-together)*s.squares[m.Index] + together*rests*rests)
		}
		reserve[m.Index] = min(s.Rests[m.Index], int64(math.Ceil(kept)))
	}
	return reserve
}

// fraction returns a number from 0 to 1. One that is not a number is 0.
func fraction(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}

// Needs returns what the pods get together: their steady demand and the reserve.
func (r Rules) Needs(s *Sum) Amounts { return s.Steady.plus(r.Of(s)) }

// Shares returns the share of its rest that each container gets, of each resource, from 0 to 1: 0 if there are no rests.
func (r Rules) Shares(s *Sum) (shares [len(sizing.Measures)]float64) {
	for i, reserve := range r.Of(s) {
		if s.Rests[i] > 0 {
			shares[i] = min(1, float64(reserve)/float64(s.Rests[i]))
		}
	}
	return shares
}

// Correlation returns the mean correlation of all pairs of series, given the sum of their variances, the sum of their
// standard deviations, and the variance of their sum. It is 0 if there are no pairs, or if they are opposed.
func Correlation(variances, deviations, ofSum float64) float64 {
	pairs := deviations*deviations - variances
	if !(pairs > variances*1e-9) {
		return 0
	}
	return fraction((ofSum - variances) / pairs)
}
