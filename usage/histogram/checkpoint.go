package histogram

import (
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
