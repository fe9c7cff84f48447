package histogram

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

const (
	// epsilon is the smallest weight that counts: buckets below it do not begin or end the
	// range of values.
	epsilon = 1e-4
	// mostHalfLives is how many half-lives a sample may be newer than the reference time.
	mostHalfLives = 100
	// heaviestScale is the factor by which weights become larger at most, so that they stay finite.
	heaviestScale = 1 << mostHalfLives
)

// Shape has what histograms of the same kind share. Histograms refer to it, so it must not change.
type Shape struct {
	Buckets *Buckets
	// HalfLife is the time in which a sample loses half of its weight.
	HalfLife time.Duration
}

// Histogram is a distribution of values. Use New.
type Histogram struct {
	shape *Shape
	// present has a bit for each bucket with a weight, and weights has these weights, in the
	// order of buckets.
	present [3]uint64
	weights []float64
	// total is the sum of weights, as it accumulated.
	total float64
	// reference is the time, in Unix nanoseconds, at which a new sample has a factor of 1;
	// 0 until there is a sample. It is a multiple of the half-life, unless it was moved.
	reference int64
}

// New returns an empty histogram.
func New(shape *Shape) Histogram { return Histogram{shape: shape} }

// Add counts a value with the given weight.
func (h *Histogram) Add(value, weight float64, at time.Time) {
	weight *= h.factor(at)
	h.add(h.shape.Buckets.find(value), weight)
	h.total += weight
}

// Subtract removes a value that was added with the same weight and time.
func (h *Histogram) Subtract(value, weight float64, at time.Time) {
	weight *= h.factor(at)
	h.total = subtract(h.total, weight)
	bucket := h.shape.Buckets.find(value)
	if i, present := h.index(bucket); present {
		if h.weights[i] = subtract(h.weights[i], weight); h.weights[i] == 0 {
			h.remove(bucket, i)
		}
	}
}

// subtract returns value - part, or 0 if less than epsilon remains.
func subtract(value, part float64) float64 {
	if rest := value - part; rest >= epsilon {
		return rest
	}
	return 0
}

// Empty reports whether no bucket has a weight that counts.
func (h *Histogram) Empty() bool {
	_, _, ok := h.span()
	return !ok
}

// span returns the range of values: the indexes of the first and the last weight that count.
// Lighter buckets between them belong to it.
func (h *Histogram) span() (first, last int, ok bool) {
	counts := func(weight float64) bool { return weight >= epsilon }
	first = slices.IndexFunc(h.weights, counts)
	for last = len(h.weights) - 1; last > first && !counts(h.weights[last]); last-- {
	}
	return first, last, first >= 0
}

// Percentile returns the upper edge of the bucket that contains the percentile p, e.g. 0.9 for the
// 90th. It returns 0 if the histogram is empty.
func (h *Histogram) Percentile(p float64) float64 {
	return Percentile(p, Part{Histogram: h, Factor: 1})
}

// Follow makes future samples decay with the given shape. Samples that the histogram has keep
// their weights relative to each other and to a sample taken at now.
func (h *Histogram) Follow(shape *Shape, now time.Time) {
	if h.shape.HalfLife != shape.HalfLife && h.reference != 0 {
		weight := h.factor(now)
		h.shape = shape
		h.reference = round(now, shape.HalfLife)
		// Samples may be ahead, as peaks are, by so many short half-lives that nothing else has any weight.
		h.scale(min(h.factor(now)/weight, heaviestScale))
	}
	h.shape = shape
}

// Move makes all samples newer by a time, or older if it is negative.
func (h *Histogram) Move(by time.Duration) {
	if h.reference != 0 {
		h.reference += int64(by)
	}
}

// factor returns the factor of the weights of samples taken at the given time. It moves the
// reference time if the factor would become too large.
func (h *Histogram) factor(at time.Time) float64 {
	halfLife := float64(h.shape.HalfLife)
	if now := at.UnixNano(); h.reference == 0 {
		h.reference = round(at, h.shape.HalfLife)
	} else if float64(now-h.reference) > mostHalfLives*halfLife {
		moved := round(at, h.shape.HalfLife)
		h.scale(math.Ldexp(1, int(math.Floor(float64(h.reference-moved)/halfLife+0.5))))
		h.reference = moved
	}
	return math.Exp2(float64(at.UnixNano()-h.reference) / halfLife)
}

// round returns the multiple of the half-life nearest to a time. Multiples count from the year 1,
// like those of time.Time.Round.
func round(at time.Time, halfLife time.Duration) int64 {
	return at.Round(halfLife).UnixNano()
}

// scale multiplies all weights. Even the lightest ones stay: they decide ties, and ties are common,
// since peaks of equal weight that decay by halves add up to the newest one.
func (h *Histogram) scale(factor float64) {
	h.total *= factor
	i := 0
	for bucket := range h.each() {
		if h.weights[i] *= factor; h.weights[i] == 0 {
			h.remove(bucket, i)
		} else {
			i++
		}
	}
}

// index returns where the weight of a bucket is, or would be.
func (h *Histogram) index(bucket int) (i int, present bool) {
	word, bit := bucket/64, uint64(1)<<(bucket%64)
	for _, before := range h.present[:word] {
		i += bits.OnesCount64(before)
	}
	return i + bits.OnesCount64(h.present[word]&(bit-1)), h.present[word]&bit != 0
}

// add adds to the weight of a bucket.
func (h *Histogram) add(bucket int, weight float64) {
	i, present := h.index(bucket)
	if present {
		h.weights[i] += weight
		return
	}
	h.present[bucket/64] |= 1 << (bucket % 64)
	// A slice of exactly the needed length: most histograms soon have all of their buckets.
	grown := make([]float64, len(h.weights)+1)
	copy(grown, h.weights[:i])
	grown[i] = weight
	copy(grown[i+1:], h.weights[i:])
	h.weights = grown
}

// remove removes a bucket.
func (h *Histogram) remove(bucket, i int) {
	h.present[bucket/64] &^= 1 << (bucket % 64)
	h.weights = slices.Delete(h.weights, i, i+1)
}

// each yields the buckets with a weight. A bucket may be removed while it is yielded.
func (h *Histogram) each() func(yield func(bucket int) bool) {
	return func(yield func(int) bool) {
		for word, left := range h.present {
			for ; left != 0; left &= left - 1 {
				if !yield(word*64 + bits.TrailingZeros64(left)) {
					return
				}
			}
		}
	}
}

// Bar is one bucket with a weight.
type Bar struct {
	// From and To are the edges of the bucket.
	From, To float64
	// Share is the share of the weight of all buckets, from 0 to 1.
	Share float64
}

// Bars yields the buckets with a weight, in ascending order.
func (h *Histogram) Bars() func(yield func(Bar) bool) {
	return func(yield func(Bar) bool) {
		i := 0
		for bucket := range h.each() {
			if !yield(Bar{From: h.shape.Buckets.starts[bucket], To: h.shape.Buckets.upper(bucket), Share: h.weights[i] / h.total}) {
				return
			}
			i++
		}
	}
}

// Clone returns a copy.
func (h *Histogram) Clone() *Histogram {
	clone := *h
	clone.weights = slices.Clone(h.weights)
	return &clone
}

// Share returns the weight of the histogram as a share of the weight of all, which decays alike.
func (h *Histogram) Share(all *Histogram) float64 {
	if h.Empty() || all.Empty() {
		return 0
	}
	age := float64(h.reference-all.reference) / float64(h.shape.HalfLife)
	return min(h.total/all.total*math.Exp2(age), 1)
}
