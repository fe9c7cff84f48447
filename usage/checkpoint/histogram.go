package checkpoint

import (
	"math"
	"time"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

const (
	// units is how many units of weight a total has. The sum of the weights up to any bucket is off by
	// half a unit at most, which decides a percentile only where it is equal except for rounding.
	units = 1 << 20
	// leastHalved and mostHalved are the powers of two by which a total is divided, for weights of
	// less than a unit, and halved is how many of these there are, without the first one.
	leastHalved, mostHalved = 21, 33
	halved                  = mostHalved - leastHalved
	// indistinct is the share of the total weight that is left out: a bucket of this size only matters
	// where two percentiles are equal except for rounding.
	indistinct = 1e-10
	// cut is how many bits of the total are left out. Those that remain are enough for its weight
	// among the totals of other histograms.
	cut = 32
)

// packHistogram returns the message of a histogram; nil if it is empty, or nil.
func packHistogram(of *histogram.Histogram, halfLife time.Duration) *storedv2.Histogram {
	if of == nil || of.Empty() {
		return nil
	}
	s := of.State()
	h := &storedv2.Histogram{
		ReferenceHalfLives: s.Reference / int64(halfLife), ReferenceNanos: s.Reference % int64(halfLife),
		Total: uint32(math.Float64bits(s.Total) >> cut), Weights: make([]uint32, 0, len(s.Weights)),
	}
	end, i, sum, written := 0, -1, 0.0, 0.0
	for bucket := range 64 * len(s.Present) {
		if s.Present[bucket/64]>>(bucket%64)&1 == 0 {
			continue
		}
		i++
		weight := s.Weights[i]
		if weight <= s.Total*indistinct {
			continue
		}
		if last := len(h.Buckets) - 1; last > 0 && bucket == end {
			h.Buckets[last]++
		} else {
			h.Buckets = append(h.Buckets, uint32(bucket-end), 1)
		}
		end = bucket + 1
		if share := weight / s.Total * units; share < 1 {
			h.Weights = append(h.Weights, mostHalved-max(leastHalved, uint32(math.Log2(units/share))))
		} else {
			// Rounding the sum instead of each weight keeps errors from adding up.
			sum += share
			h.Weights = append(h.Weights, halved+uint32(math.Round(sum)-written))
			written = math.Round(sum)
		}
	}
	return h
}

// unpackHistogram returns the histogram of a message, which may be nil.
func unpackHistogram(h *storedv2.Histogram, shape *histogram.Shape) (histogram.Histogram, error) {
	if len(h.GetWeights()) == 0 {
		return histogram.New(shape), nil
	}
	s := histogram.State{
		Reference: h.ReferenceHalfLives*int64(shape.HalfLife) + h.ReferenceNanos,
		Total:     math.Float64frombits(uint64(h.Total) << cut), Weights: make([]float64, len(h.Weights)),
	}
	bucket := 0
	for i, n := range h.Buckets {
		for range min(int(n), 64*len(s.Present)-bucket) {
			s.Present[bucket/64] |= uint64(i%2) << (bucket % 64)
			bucket++
		}
	}
	for i, n := range h.Weights {
		if n <= halved {
			s.Weights[i] = math.Ldexp(s.Total, int(n)-mostHalved)
		} else {
			s.Weights[i] = float64(n-halved) / units * s.Total
		}
	}
	return histogram.FromState(shape, s)
}
