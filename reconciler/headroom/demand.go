package headroom

import (
	"math"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Amounts has millicores of CPU and bytes of memory, by sizing.Measure.Index.
type Amounts [len(sizing.Measures)]int64

// plus returns the sum of both. No sum is more than what any machine has.
func (a Amounts) plus(b Amounts) Amounts {
	for _, m := range sizing.Measures {
		a[m.Index] = min(a[m.Index]+b[m.Index], math.MaxInt64/2)
	}
	return a
}

// Demand is what a container needs.
type Demand struct {
	// Steady is what it needs most of the time, and Peak what it needs at most. A resource that is not shared has a peak
	// that is no more than the steady demand.
	Steady, Peak Amounts
	// Uses is what it uses now and cannot be taken from it; 0 if that is not known. It does not count for shares.
	Uses Amounts
}

// NewDemand returns the demand for numbers that were measured. A number that cannot be an amount, such as one that is
// negative or not a number, is none.
func NewDemand(steady, peak [len(sizing.Measures)]float64) (d Demand) {
	for _, m := range sizing.Measures {
		d.Steady[m.Index], d.Peak[m.Index] = amount(steady[m.Index], m), amount(peak[m.Index], m)
	}
	return d
}

// amount returns the next whole amount.
func amount(x float64, m *sizing.Measure) int64 {
	if !(x > 0) { // NaN, too.
		return 0
	}
	return int64(math.Ceil(min(x, float64(m.Most))))
}

// steady returns the steady demand of a resource, which is not negative.
func (d *Demand) steady(m *sizing.Measure) int64 {
	return min(max(0, d.Steady[m.Index]), m.Most)
}

// uses returns what the container uses now, which is not negative.
func (d *Demand) uses() (all Amounts) {
	for _, m := range sizing.Measures {
		all[m.Index] = min(max(0, d.Uses[m.Index]), m.Most)
	}
	return all
}

// rest returns by how much the peak of a resource exceeds the steady demand; 0 if it does not.
func (d *Demand) rest(m *sizing.Measure) int64 {
	return max(0, min(d.Peak[m.Index], m.Most)-d.steady(m))
}

// Size returns what a container with this demand gets of each resource on a node with these shares: at least its steady
// demand, and at most its peak, if that is more.
func (d *Demand) Size(shares [len(sizing.Measures)]float64) (size Amounts) {
	for _, m := range sizing.Measures {
		size[m.Index] = d.steady(m) + sizing.Share(d.rest(m), shares[m.Index])
	}
	return size
}
