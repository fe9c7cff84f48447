package histogram

import (
	"math"
	"math/bits"
)

// Part is a histogram in a union. Its values count multiplied by Factor.
type Part struct {
	Histogram *Histogram
	Factor    float64
}

// Percentile returns the percentile p of the union of histograms: of all pairs of a bucket's upper
// edge, multiplied by the factor, and its weight. No value moves to another bucket, so converting
// costs no precision. It returns 0 if all are empty.
func Percentile(p float64, parts ...Part) float64 {
	var room [8]cursor
	cursors := room[:0]
	var total float64
	reference := latest(parts)
	for _, part := range parts {
		c, ok := begin(part, reference)
		if !ok {
			continue
		}
		cursors = append(cursors, c)
		total += part.Histogram.total * c.scale
	}
	if len(cursors) == 0 {
		return 0
	}
	threshold, sum, highest := p*total, 0.0, 0.0
	for {
		least := -1
		for i := range cursors {
			if !cursors[i].done && (least < 0 || cursors[i].value < cursors[least].value) {
				least = i
			}
		}
		if least < 0 {
			return highest
		}
		c := &cursors[least]
		highest = c.value
		sum += c.weight()
		if sum >= threshold {
			return highest
		}
		c.next()
	}
}

// latest returns the latest reference time.
func latest(parts []Part) (reference int64) {
	for _, part := range parts {
		if !part.Histogram.Empty() {
			reference = max(reference, part.Histogram.reference)
		}
	}
	return reference
}

// cursor walks through the buckets of a part.
type cursor struct {
	Part
	// scale converts weights to the reference time of the union.
	scale float64
	// value is the upper edge of the bucket, multiplied by the factor.
	value  float64
	bucket int
	// i is the index of the bucket's weight, and last that of the last bucket of the range of
	// values.
	i, last int
	done    bool
}

// begin returns a cursor at the first bucket of the range of values.
func begin(part Part, reference int64) (c cursor, ok bool) {
	h := part.Histogram
	first, last, ok := h.span()
	if !ok {
		return cursor{}, false
	}
	age := float64(h.reference-reference) / float64(h.shape.HalfLife)
	c = cursor{Part: part, scale: math.Exp2(age), i: -1, last: last, bucket: -1}
	for c.i < first {
		c.advance()
	}
	return c, true
}

// weight returns the weight of the bucket.
func (c *cursor) weight() float64 { return c.Histogram.weights[c.i] * c.scale }

// next moves to the next bucket with a weight, unless this was the last one.
func (c *cursor) next() {
	if c.i == c.last {
		c.done = true
		return
	}
	c.advance()
}

// advance moves to the next bucket with a weight.
func (c *cursor) advance() {
	c.i++
	c.bucket++
	word := c.bucket / 64
	left := c.Histogram.present[word] >> (c.bucket % 64) << (c.bucket % 64)
	for left == 0 {
		word++
		left = c.Histogram.present[word]
	}
	c.bucket = word*64 + bits.TrailingZeros64(left)
	c.value = c.Histogram.shape.Buckets.upper(c.bucket) * c.Factor
}
