package histogram

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// indistinct is the share of the total weight that AppendBinary leaves out: a bucket of this size
// only matters where two percentiles are equal except for rounding.
const indistinct = 1e-10

// AppendBinary appends the histogram in a compact form to b. Weights keep 24 bits of precision.
//
// The form is: the number of buckets; if there are any, the reference time in nanoseconds and the
// total; then for each bucket the distance to the one before and its share of the total. Counts
// and distances are varints, the total has 8 bytes and shares have 4, the lowest byte first.
func (h *Histogram) AppendBinary(b []byte) []byte {
	least, kept := h.total*indistinct, 0
	for _, weight := range h.weights {
		if weight > least {
			kept++
		}
	}
	b = binary.AppendUvarint(b, uint64(kept))
	if kept == 0 {
		return b
	}
	b = binary.AppendVarint(b, h.reference)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.total))
	i, previous := 0, -1
	for bucket := range h.each() {
		if weight := h.weights[i]; weight > least {
			b = binary.AppendUvarint(b, uint64(bucket-previous-1))
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(weight/h.total)))
			previous = bucket
		}
		i++
	}
	return b
}

// errBinary is returned for bytes that AppendBinary does not write.
var errBinary = errors.New("invalid histogram")

// FromBinary reads what AppendBinary wrote, and returns the bytes after it.
func FromBinary(shape *Shape, b []byte) (h Histogram, rest []byte, err error) {
	h = New(shape)
	kept, n := binary.Uvarint(b)
	if n <= 0 || kept > count {
		return h, nil, errBinary
	}
	b = b[n:]
	if kept == 0 {
		return h, b, nil
	}
	reference, n := binary.Varint(b)
	if n <= 0 || reference == 0 || len(b) < n+8 {
		return h, nil, errBinary
	}
	total := math.Float64frombits(binary.LittleEndian.Uint64(b[n:]))
	if !finite(total) || total <= 0 {
		return h, nil, errBinary
	}
	b = b[n+8:]
	h.reference, h.total = reference, total
	h.weights = make([]float64, 0, kept)
	bucket := -1
	for range kept {
		distance, n := binary.Uvarint(b)
		if n <= 0 || distance >= count || len(b) < n+4 {
			return New(shape), nil, errBinary
		}
		share := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[n:])))
		b = b[n+4:]
		bucket += int(distance) + 1
		if bucket >= count || !finite(share) || share <= 0 || share > 1.001 {
			return New(shape), nil, errBinary
		}
		h.present[bucket/64] |= 1 << (bucket % 64)
		h.weights = append(h.weights, share*total)
	}
	h.weights = slices.Clip(h.weights)
	return h, b, nil
}
