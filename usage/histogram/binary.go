package histogram

import (
	"encoding/binary"
	"errors"
	"math"
)

const (
	// units is how many units of weight AppendBinary counts in. The sum of the weights up to any
	// bucket is off by half a unit at most, which decides a percentile only where it is equal
	// except for rounding.
	units = 1 << 20
	// cut is how many bits of the total AppendBinary leaves out. Those that remain are enough for
	// its weight among the totals of other histograms.
	cut = 32
	// indistinct is the share of the total weight that AppendBinary leaves out: a bucket of this
	// size only matters where two percentiles are equal except for rounding.
	indistinct = 1e-10
)

// AppendBinary appends the histogram in a compact form to b.
//
// The form is: the number of buckets; if there are any, the reference time and the total; then the
// ranges of buckets; then the weight of each bucket. The total has the 4 highest bytes of a
// floating-point number, the lowest byte first, and all other numbers are varints. The reference time
// is a number of half-lives and the remaining nanoseconds. A range is its distance from the one
// before, and its length. A weight is a number of units; if it is less than one, 0 and the power of
// two by which the total is divided. A histogram without weights that count has no buckets.
func (h *Histogram) AppendBinary(b []byte) []byte {
	if h.Empty() {
		return append(b, 0)
	}
	total := h.total
	if sum := h.sum(); sum > total*most || total > sum*most {
		total = sum // The smallest weights have been subtracted from only one of them.
	}
	least, kept := total*indistinct, 0
	var ranges []byte
	end := 0 // of the current range
	length := uint64(0)
	i := 0
	for bucket := range h.each() {
		if h.weights[i] > least {
			kept++
			if length > 0 && bucket != end {
				ranges = binary.AppendUvarint(ranges, length)
			}
			if length == 0 || bucket != end {
				ranges, length = binary.AppendUvarint(ranges, uint64(bucket-end)), 0
			}
			length, end = length+1, bucket+1
		}
		i++
	}
	b = binary.AppendUvarint(b, uint64(kept))
	halfLife := int64(h.shape.HalfLife)
	b = binary.AppendVarint(binary.AppendVarint(b, h.reference/halfLife), h.reference%halfLife)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(total)>>cut)[:len(b)+8-cut/8]
	b = binary.AppendUvarint(append(b, ranges...), length)
	sum, written := 0.0, 0.0
	for _, weight := range h.weights {
		switch share := weight / total * units; {
		case weight <= least:
		case share < 1:
			b = binary.AppendUvarint(append(b, 0), max(leastHalved, uint64(math.Log2(units/share))))
		default:
			// Rounding the sum instead of each weight keeps errors from adding up.
			sum += share
			b = binary.AppendUvarint(b, uint64(math.Round(sum)-written))
			written = math.Round(sum)
		}
	}
	return b
}

// sum returns the sum of weights.
func (h *Histogram) sum() (sum float64) {
	for _, weight := range h.weights {
		sum += weight
	}
	return sum
}

// errBinary is returned for bytes that AppendBinary does not write.
var errBinary = errors.New("invalid histogram")

const (
	// most is how much more than the total a weight is, because of rounding.
	most = 1.001
	// leastHalved and mostHalved are the powers of two by which a total is divided, for weights
	// of less than a unit.
	leastHalved, mostHalved = 21, 33
	mostUnits               = units*1001/1000 + 1 // Rounded up.
)

// FromBinary reads what AppendBinary wrote, and returns the bytes after it.
func FromBinary(shape *Shape, b []byte) (h Histogram, rest []byte, err error) {
	r := reader{rest: b}
	kept := r.number(count)
	if kept == 0 {
		return New(shape), r.rest, r.err
	}
	read := Histogram{shape: shape, weights: make([]float64, 0, kept)}
	read.reference = r.signed()*int64(shape.HalfLife) + r.signed()
	read.total = r.float()
	bucket := 0
	for left := kept; left > 0 && r.err == nil; {
		bucket += int(r.number(count))
		length := r.number(left)
		if length == 0 || bucket+int(length) > count {
			r.fail()
		}
		for range length {
			read.present[bucket/64%len(read.present)] |= 1 << (bucket % 64)
			bucket++
		}
		left -= min(length, left)
	}
	for range kept {
		share := float64(r.number(mostUnits)) / units
		if share == 0 {
			halved := int(r.number(mostHalved))
			if halved < leastHalved {
				r.fail()
			}
			share = math.Ldexp(1, -halved)
		}
		read.weights = append(read.weights, share*read.total)
	}
	if !(read.total > 0 && read.total <= math.MaxFloat64) || read.reference == 0 { // NaN, too, is not within these bounds.
		r.fail()
	}
	if r.err != nil {
		return New(shape), nil, r.err
	}
	return read, r.rest, nil
}

// reader takes numbers from bytes. After an error, it returns zeros.
type reader struct {
	rest []byte
	err  error
}

// fail ends the reading.
func (r *reader) fail() { r.rest, r.err = nil, errBinary }

// number returns a number that is not above the given one.
func (r *reader) number(most uint64) uint64 {
	n, used := binary.Uvarint(r.rest)
	if used <= 0 || n > most {
		r.fail()
		return 0
	}
	r.rest = r.rest[used:]
	return n
}

func (r *reader) signed() int64 {
	n, used := binary.Varint(r.rest)
	if used <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[used:]
	return n
}

func (r *reader) float() float64 {
	var bits [8]byte
	if copy(bits[cut/8:], r.rest) < len(bits)-cut/8 {
		r.fail()
		return 0
	}
	r.rest = r.rest[len(bits)-cut/8:]
	return math.Float64frombits(binary.LittleEndian.Uint64(bits[:]))
}
