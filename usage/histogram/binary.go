package histogram

import (
	"encoding/binary"
	"errors"
	"math"
)

// indistinct is the share of the total weight that AppendBinary leaves out: a bucket of this size
// only matters where two percentiles are equal except for rounding.
const indistinct = 1e-10

// AppendBinary appends the histogram in a compact form to b. Weights keep 24 bits of precision.
//
// The form is: the number of buckets; if there are any, the reference time in nanoseconds and the
// total; then each bucket and its share of the total. The number and the time are varints, the total
// has 8 bytes, a bucket has 1, and a share has 4, the lowest byte first.
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
	i := 0
	for bucket := range h.each() {
		if weight := h.weights[i]; weight > least {
			b = binary.LittleEndian.AppendUint32(append(b, byte(bucket)), math.Float32bits(float32(weight/h.total)))
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
	if n <= 0 || reference == 0 {
		return h, nil, errBinary
	}
	b = b[n:]
	if len(b) < 8+5*int(kept) {
		return h, nil, errBinary
	}
	total := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if !(total > 0 && total <= math.MaxFloat64) { // NaN, too, is not within these bounds.
		return h, nil, errBinary
	}
	b = b[8:]
	read := Histogram{shape: shape, reference: reference, total: total, weights: make([]float64, 0, kept)}
	previous := -1
	for range kept {
		bucket, share := int(b[0]), float64(math.Float32frombits(binary.LittleEndian.Uint32(b[1:])))
		b = b[5:]
		// Rounding may add a little to a share of everything.
		if bucket <= previous || bucket >= count || !(share > 0 && share < 1.01) {
			return h, nil, errBinary
		}
		read.present[bucket/64] |= 1 << (bucket % 64)
		read.weights = append(read.weights, share*total)
		previous = bucket
	}
	return read, b, nil
}
