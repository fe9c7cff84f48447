package histogram

import (
	"errors"
	"math"
	"math/bits"
	"slices"
)

// State is a histogram as plain values, so that it can be stored. The zero State is an empty histogram.
type State struct {
	// Reference is the time at which a new sample has a factor of 1, in nanoseconds since 1970.
	Reference int64
	// Total is the sum of weights, except for rounding.
	Total float64
	// Present has a bit for each bucket with a weight, and Weights has these weights, in the order
	// of buckets.
	Present [3]uint64
	Weights []float64
}

// most is how much more than the total a weight is, because of rounding.
const most = 1.001

// State returns the state of the histogram, which shares memory with it. A histogram without weights that
// count is empty.
func (h *Histogram) State() State {
	if h.Empty() {
		return State{}
	}
	s := State{Reference: h.reference, Total: h.total, Present: h.present, Weights: h.weights}
	sum := 0.0
	for _, weight := range h.weights {
		sum += weight
	}
	if sum > s.Total*most || s.Total > sum*most {
		s.Total = sum // The smallest weights have been subtracted from only one of them.
	}
	return s
}

// errState is returned for a state that no histogram has.
var errState = errors.New("invalid histogram")

// FromState returns the histogram with a state, whose weights it keeps.
func FromState(shape *Shape, s State) (Histogram, error) {
	present := 0
	for _, word := range s.Present {
		present += bits.OnesCount64(word)
	}
	heavy := func(weight float64) bool { return !(weight >= 0 && weight <= s.Total*most) } // NaN, too, is not within these bounds.
	switch {
	case present != len(s.Weights) || s.Present[count/64]>>(count%64) != 0:
		return New(shape), errState
	case present == 0:
		return New(shape), nil
	case s.Reference == 0 || !(s.Total > 0 && s.Total <= math.MaxFloat64) || slices.ContainsFunc(s.Weights, heavy):
		return New(shape), errState
	}
	return Histogram{shape: shape, present: s.Present, weights: s.Weights, total: s.Total, reference: s.Reference}, nil
}
