package histogram

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// heaviest is the weight of the heaviest bucket in a Checkpoint.
const heaviest = 10000

// Checkpoint is a histogram in the format of the VPA's checkpoints. Its JSON equals theirs.
type Checkpoint struct {
	// Reference is the time at which a new sample has a factor of 1; nil in an empty
	// histogram. Fractions of a second are lost.
	Reference *time.Time `json:"referenceTimestamp"`
	// Weights are relative to the heaviest bucket, which has 10,000.
	Weights map[int]uint32 `json:"bucketWeights,omitempty"`
	// Total is the sum of the weights before rounding.
	Total float64 `json:"totalWeight,omitempty"`
}

// Checkpoint returns the histogram in the VPA's format, which rounds weights.
func (h *Histogram) Checkpoint() Checkpoint {
	c := Checkpoint{Total: h.total}
	if h.reference != 0 {
		reference := time.Unix(0, h.reference).UTC().Truncate(time.Second)
		c.Reference = &reference
	}
	first, last, ok := h.span()
	if !ok {
		return c
	}
	c.Weights = map[int]uint32{}
	perWeight, i := heaviest/slices.Max(h.weights[first:last+1]), 0
	for bucket := range h.each() {
		if weight := uint32(math.Floor(h.weights[i]*perWeight + 0.5)); weight > 0 && first <= i && i <= last {
			c.Weights[bucket] = weight
		}
		i++
	}
	return c
}

// FromCheckpoint returns the histogram of a checkpoint in the VPA's format.
func FromCheckpoint(shape *Shape, c Checkpoint) (Histogram, error) {
	h := New(shape)
	if !finite(c.Total) || c.Total < 0 {
		return h, fmt.Errorf("total weight %v is not a positive number", c.Total)
	}
	sum := 0.0
	for bucket, weight := range c.Weights {
		if bucket < 0 || bucket >= count {
			return h, fmt.Errorf("bucket %d does not exist", bucket)
		}
		sum += float64(weight)
	}
	if c.Reference != nil {
		h.reference = c.Reference.UnixNano()
	}
	if sum == 0 {
		return h, nil
	}
	if c.Reference == nil {
		return h, errors.New("weights without a reference time")
	}
	for bucket := range count {
		if weight := c.Weights[bucket]; weight > 0 {
			h.add(bucket, float64(weight)*c.Total/sum)
		}
	}
	h.total = c.Total
	return h, nil
}

// finite reports whether a number is neither infinite nor NaN.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
