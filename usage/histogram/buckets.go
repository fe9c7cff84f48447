package histogram

import "math"

// count is the number of buckets. Both of our Buckets need as many: their largest value is 100,000
// times their first bucket.
const count = 176

// ratio is how much larger each bucket is than the previous one, and growth by how much. As
// variables, they are rounded like the VPA's: as constants, growth would be exactly 0.05.
var (
	ratio  = 1.05
	growth = ratio - 1
)

// Buckets are the ranges of values that a histogram counts.
type Buckets struct {
	first float64
	// starts has the lower edges.
	starts [count]float64
}

// CPU are the buckets of cores, up to 1000; Memory those of bytes, up to 1e12. Larger values count
// for the last bucket.
var (
	CPU    = buckets(0.01)
	Memory = buckets(1e7)
)

// buckets returns the buckets whose first one ends at first.
func buckets(first float64) *Buckets {
	b := &Buckets{first: first}
	for i := range b.starts {
		b.starts[i] = first * (math.Pow(ratio, float64(i)) - 1) / growth
	}
	return b
}

// find returns the bucket of a value.
func (b *Buckets) find(value float64) int {
	if value < b.first {
		return 0
	}
	return min(int(math.Log(value*growth/b.first+1)/math.Log(ratio)), count-1)
}

// upper returns the upper edge of a bucket. The last bucket has none: its lower edge stands in.
func (b *Buckets) upper(bucket int) float64 {
	return b.starts[min(bucket+1, count-1)]
}
